'use strict'

const i18next = require('i18next')
const { isObject } = require('../../lib/shared/options')
const sprintf = require('./sprintf')

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other']

// Stands for the `%` of a value, which begins no placeholder. A noncharacter, because texts have none.
const PERCENT = '\uFDD0'

/** i18next, for `__(key, { count, name, … })`. */
function engineOf (contents, fallback) {
  const engine = i18next.createInstance()
  // @ts-expect-error -- its types lack an option
  engine.init({
    initAsync: false,
    showSupportNotice: false,
    fallbackLng: false,
    nsSeparator: false,
    returnObjects: true,
    interpolation: { escape: value => value.replaceAll('%', PERCENT) }, // HTML is escaped by templates, as for %s
    resources: {}
  })
  const { languageUtils } = engine.services
  const codes = new Map()
  for (const [name, catalogue] of Object.entries(contents)) {
    codes.set(name, languageUtils.formatLanguageCode(name))
    engine.addResourceBundle(codes.get(name), 'translation', withPlurals(catalogue))
  }
  engine.options.fallbackLng = fallback ? [codes.get(fallback)] : false
  return (locale, key, options, isKnown) => {
    const count = countable(options.count)
    const text = engine.t(isKnown ? key : protectable(key), {
      ...options,
      count,
      lng: codes.get(locale),
      nest: isKnown // a key from outside must not name another one by $t()
    })
    return restored(sprintf(text, [count === undefined ? options : count]))
  }
}

/** A query, a form and a database give a count as text, for which i18next has plurals only where it is an object. */
function countable (count) {
  if (typeof count !== 'string' && typeof count !== 'bigint') return count
  const text = String(count)
  return text === '0' ? 0 : Object(text) // only the number has a form `_zero`
}

/** `{{- name}}` is written `{{name}}`, for which i18next calls `escape`. */
function protectable (value) {
  if (typeof value === 'string') return value.replaceAll('{{-', '{{')
  if (Array.isArray(value)) return value.map(protectable)
  return isObject(value) ? withPlurals(value) : value
}

function restored (value) {
  if (typeof value === 'string') return value.replaceAll(PERCENT, '%')
  if (Array.isArray(value)) return value.map(restored)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, restored(one)])) : value
}

/** i18next keeps the forms of `{ cat: { one, other } }` as cat_one and cat_other. */
function withPlurals (catalogue) {
  const copy = { ...catalogue }
  for (const [key, value] of Object.entries(catalogue)) {
    copy[key] = protectable(value)
    if (!isPlural(value)) continue
    for (const form of Object.keys(value)) copy[`${key}_${form}`] = copy[key][form]
  }
  return copy
}

function isPlural (value) {
  return isObject(value) && 'other' in value && Object.keys(value).every(key => PLURALS.includes(key))
}

module.exports = engineOf
