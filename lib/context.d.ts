import Kone = require('./index')

/** The prototype that every app's `app.context` begins with. */
declare const context: Kone.BaseContext

export = context
