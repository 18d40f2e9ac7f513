'use strict'

const { isObject } = require('../../lib/shared/options')
const sprintf = require('./sprintf')

// i18next looks for `{{…}}` in a key that no catalogue has, with an expression that is quadratic in `{`.
const MAX_UNKNOWN_KEY = 1000

/**
 * `__` and `__n` of one locale.
 *
 * @param {string} name of the locale
 * @param {Map<string, *>} messages by key
 * @param {Function} engine i18next's, for `__(key, { count, name, … })`
 * @return {{ __: Function, __n: Function, getLocale: Function, isPreferredLocale: Function }}
 */
module.exports = function helpersOf (name, messages, engine) {
  const rules = pluralRules(name)

  function __ (key, ...args) {
    const message = messages.get(key)
    if (args.length === 0) return message ?? key
    if (args.length === 1 && isObject(args[0])) {
      if (message === undefined && key?.length > MAX_UNKNOWN_KEY) return key
      return engine(name, key, args[0], message !== undefined)
    }
    return sprintf(message ?? key, args)
  }

  // (key, count, ...args) or, where the catalogue has no such key, (one, other, count, ...args)
  function __n (key, other, count, ...args) {
    if (typeof other === 'number') {
      return sprintf(formOf(messages.get(key) ?? key, other), [other, count, ...args])
    }
    const message = messages.get(key) ?? { one: key, other }
    const text = sprintf(formOf(message, count), [count])
    return args.length === 0 ? text : sprintf(text, args)
  }

  /** Of `{ one, other }` as i18n-2 takes it, of all six by the rules of the language. */
  function formOf (message, count) {
    if (!isObject(message)) return message
    const simple = parseInt(count, 10) > 1 ? 'other' : 'one'
    const isSimple = Object.keys(message).every(form => form === 'one' || form === 'other')
    return message[isSimple ? simple : rules.select(Number(count))] ?? message.other
  }

  return {
    __,
    __n,
    getLocale: () => name,
    isPreferredLocale: () => true // koa-i18n's compares nothing either: it knows no preference
  }
}

function pluralRules (name) {
  try {
    return new Intl.PluralRules(name.replaceAll('_', '-'))
  } catch {
    return new Intl.PluralRules('en')
  }
}
