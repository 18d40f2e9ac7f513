import Kone = require('./index')

/** The prototype that every app's `app.request` begins with. */
declare const request: Kone.BaseRequest

export = request
