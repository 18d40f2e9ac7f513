'use strict'

const original = require('helmet')
const { Options, Rule, boolean, isObject, list, number, object, shape, string, text } = require('../../lib/shared/options')

const policy = { policy: text }
const ARGUMENTS = {
  contentSecurityPolicy: { useDefaults: boolean, reportOnly: boolean, directives: object },
  crossOriginEmbedderPolicy: policy,
  crossOriginOpenerPolicy: policy,
  crossOriginResourcePolicy: policy,
  referrerPolicy: { policy: string.or(list(string, 'strings')) },
  strictTransportSecurity: { maxAge: number({ min: 0, unit: 's' }), includeSubDomains: boolean, preload: boolean },
  xDnsPrefetchControl: { allow: boolean },
  xFrameOptions: { action: text },
  xPermittedCrossDomainPolicies: { permittedPolicies: text }
}

/** helmet has two names for some functions: both have the rule of the one in ARGUMENTS. */
const PARTS = Object.entries(original)
  .filter(([name, make]) => name !== 'default' && typeof make === 'function')
  .map(([name, make]) => {
    const described = Object.keys(ARGUMENTS).find(known => original[known] === make)
    return { name, make, rule: described && partRule(make, ARGUMENTS[described]) }
  })

/** Names and types are checked here, and helmet itself knows which values it takes. */
function partRule (make, rules) {
  const names = shape(rules)
  return Object.assign(new Rule('an object', isObject, (value, path) => {
    const refusal = names.refusal(value, path)
    if (refusal !== undefined) return refusal
    try {
      make(value)
    } catch (err) {
      return `${path}: ${err.message}`
    }
  }), { members: rules })
}

/** helmet's own, with its defaults and its types. */
module.exports = new Options('helmet', Object.fromEntries(PARTS.map(({ name, rule }) => [name, rule ? boolean.or(rule) : boolean])))

/** Each function of helmet, and what its options must be. */
module.exports.parts = PARTS.map((/** @type {any} */ { name, make, rule = {} }) => ({ name, make, options: new Options(`helmet.${name}`, rule) }))
