import Kone = require('./index')

// A class to the compiler, so that it does not take the properties for exports of the module.
declare class Prototype {}
interface Prototype extends Kone.BaseRequest {}

/** The prototype that every app's `app.request` begins with. */
declare const request: Prototype

export = request
