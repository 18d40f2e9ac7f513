'use strict'

const nunjucks = require('nunjucks')

/**
 * A scope of variables, in place of nunjucks' Frame. In each turn of a loop, Frame splits `loop.index` and
 * six other names at their dot, and it keeps variables in a dictionary, which V8 does not optimise: without
 * this class a page with a short list costs much more.
 */
class Scope extends nunjucks.runtime.Frame {
  constructor (parent, isolateWrites) {
    super(parent, isolateWrites)
    this.variables = new Variables()
  }

  push (isolateWrites) {
    return new Scope(this, isolateWrites)
  }

  set (name, value, resolveUp) {
    if (resolveUp) return super.set(name, value, true)
    switch (name) {
      case 'loop.index': this.loop().index = value; return
      case 'loop.index0': this.loop().index0 = value; return
      case 'loop.revindex': this.loop().revindex = value; return
      case 'loop.revindex0': this.loop().revindex0 = value; return
      case 'loop.first': this.loop().first = value; return
      case 'loop.last': this.loop().last = value; return
      case 'loop.length': this.loop().length = value; return
    }
    if (name.includes('.')) super.set(name, value)
    else this.variables[name] = value
  }

  loop () {
    this.variables.loop ||= { ...LOOP }
    return this.variables.loop
  }
}

// an object with space for all seven names, so that V8 does not move them
const LOOP = {
  index: 0, index0: 0, revindex: 0, revindex0: 0, first: false, last: false, length: 0
}

/** An object that inherits nothing, so that a variable may be called `constructor`. */
function Variables () {}
Variables.prototype = Object.create(null)

module.exports = Scope
