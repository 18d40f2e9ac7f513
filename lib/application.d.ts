import Kone = require('./index')

export = Kone
