import Kone = require('./index')

// A class to the compiler, so that it does not take the properties for exports of the module.
declare class Prototype {}
interface Prototype extends Kone.BaseContext {}

/** The prototype that every app's `app.context` begins with. */
declare const context: Prototype

export = context
