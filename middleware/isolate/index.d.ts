import Kone = require('../../lib/index')

declare function isolate (): Kone.Middleware

export = isolate
