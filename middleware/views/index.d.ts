import template = require('../template')

export = template
