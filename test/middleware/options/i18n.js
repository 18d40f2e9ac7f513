'use strict'

const Kone = require('../../helpers/kone')
const i18n = require('kone/middleware/i18n')
const { TEXTS, FUNCTIONS } = require('./values')

module.exports = {
  make: options => i18n(new Kone(), withLocales(options)),
  options: {
    locales: [5, 'en', [], { en: 5 }],
    directory: TEXTS,
    extension: TEXTS,
    parse: FUNCTIONS,
    modes: ['query', ['moon'], [5]],
    defaultLocale: [5, '', 'fr', null],
    fallback: [5, '', 'fr', true, null],
    key: TEXTS,
    devMode: [true], // of i18n-2
    indent: ['  '],
    dump: [JSON.stringify],
    register: [{}],
    cookieName: ['lang']
  }
}

// `locales` is the one option that cannot be left out
function withLocales (options) {
  return options === undefined || options?.constructor === Object || options === null
    ? { locales: { en: {} }, ...options }
    : options
}
