import Kone = require('./index')

/** The prototype that every app's `app.response` begins with. */
declare const response: Kone.BaseResponse

export = response
