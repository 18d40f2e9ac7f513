'use strict'

const net = require('node:net')
const path = require('node:path')
const vm = require('node:vm')

const ROOT = path.join(__dirname, '../..')

/** Koa's `callback()` gives such a listener; minifiers keep the names of methods. */
const KOAS_LISTENER = /\b[\w$]+ ?= ?this\.createContext\(|\.createContext\(\w+, ?\w+\)/

/**
 * Jest reads a program's modules itself and compiles them by `vm`: a Koa that gets there
 * was not replaced, and what passes then has passed on Koa. The error fails the suite.
 */
exports.refuseOwnLoaders = function (replacement) {
  const { Script, compileFunction } = vm

  vm.Script = class extends Script {
    constructor (code, options) {
      refuse(replacement, typeof options === 'string' ? options : options?.filename)
      super(code, options)
    }
  }
  vm.compileFunction = function (code, params, options) {
    refuse(replacement, options?.filename)
    return compileFunction(code, params, options)
  }
}

function refuse (replacement, file) {
  if (typeof file !== 'string' || !replacement.has(file)) return
  const err = new Error(`kone/as-koa cannot replace ${file}, which another module system loads. Jest's configuration can: ${mapper()}`)
  err.stack = `Error: ${err.message}` // Jest shows the source of the first file in it
  throw err
}

const mapper = () => `"moduleNameMapper": { "^koa(/.*)?$": ${JSON.stringify(`${ROOT}$1`)} }`

/** A bundle has Koa's code in a file of its own. It is noticed when it listens. */
exports.refuseBundles = function (replacement) {
  const { listen } = net.Server.prototype

  net.Server.prototype.listen = function (...args) {
    if (!replacement.hasFound && this.listeners('request').some(isKoas)) {
      process.stderr.write(`kone/as-koa cannot replace Koa in ${process.argv[1] ?? 'this program'}: ` +
        'Koa is a part of the file itself (of a bundle). Bundle it with kone as koa, or run it from its sources.\n')
      process.exit(1)
    }
    return listen.apply(this, args)
  }
}

const isKoas = listener => KOAS_LISTENER.test(Function.prototype.toString.call(listener))
