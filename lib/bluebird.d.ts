/** The same class with bluebird preset as `Promise`. */
import Kone = require('./index')

export = Kone
