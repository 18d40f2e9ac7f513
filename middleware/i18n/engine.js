'use strict'

const i18next = require('i18next')
const { isObject } = require('../../lib/options')

const PLURALS = ['zero', 'one', 'two', 'few', 'many', 'other']

/** i18next, for `__(key, { count, name, … })`. */
function engineOf (contents, fallback) {
  const engine = i18next.createInstance()
  engine.init({
    initAsync: false,
    showSupportNotice: false,
    fallbackLng: false,
    nsSeparator: false,
    returnObjects: true,
    interpolation: { escapeValue: false }, // templates escape, and nothing else does for %s
    resources: {}
  })
  const { languageUtils } = engine.services
  const codes = new Map()
  for (const [name, catalogue] of Object.entries(contents)) {
    codes.set(name, languageUtils.formatLanguageCode(name))
    engine.addResourceBundle(codes.get(name), 'translation', withPlurals(catalogue))
  }
  engine.options.fallbackLng = fallback ? [codes.get(fallback)] : false
  return (locale, key, options, isKnown) => engine.t(key, {
    ...options,
    lng: codes.get(locale),
    nest: isKnown // a key from outside must not name another one by $t()
  })
}

/** i18next keeps the forms of `{ cat: { one, other } }` as cat_one and cat_other. */
function withPlurals (catalogue) {
  const copy = { ...catalogue }
  for (const [key, value] of Object.entries(catalogue)) {
    if (!isObject(value)) continue
    copy[key] = withPlurals(value)
    if (!isPlural(value)) continue
    for (const form of Object.keys(value)) copy[`${key}_${form}`] = value[form]
  }
  return copy
}

function isPlural (value) {
  return isObject(value) && 'other' in value && Object.keys(value).every(key => PLURALS.includes(key))
}

module.exports = engineOf
