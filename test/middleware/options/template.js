'use strict'

const template = require('kone/middleware/template')
const { TEXTS, BOOLEANS } = require('./values')

module.exports = {
  make: options => template(__dirname, options),
  options: {
    autoRender: BOOLEANS,
    extension: TEXTS,
    map: [5, ['x'], { html: 5 }],
    options: [5, 'x', []],
    'options.autoescape': BOOLEANS,
    'options.filters': [5, { shout: 5 }],
    'options.tests': [5, { odd: 'x' }],
    'options.globals': [5],
    'options.extensions': [5],
    'options.watch': BOOLEANS,
    engineSource: [{}]
  },
  open: ['options'] // variables of templates
}
