import Kone = require('./index')

// A class to the compiler, so that it does not take the properties for exports of the module.
declare class Prototype {}
interface Prototype extends Kone.BaseResponse {}

/** The prototype that every app's `app.response` begins with. */
declare const response: Prototype

export = response
