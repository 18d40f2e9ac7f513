'use strict'

const { Options, Rule, any, each, fn, list, off, refused, text } = require('../../lib/shared/options')
const { MODES, modeName } = require('./modes')

const mode = new Rule('a mode', value => typeof value === 'function' || modeName(value) !== undefined)

module.exports = new Options('i18n', {
  // `read` says more
  locales: any.says('names of catalogues, or the catalogues by name', {
    isRequired: true, type: 'string[] | { [name: string]: Catalogue }'
  }),
  directory: text.says('folder of the catalogues', { default: './locales' }),
  extension: text.says('extension of the files', { otherwise: '`.js`, which holds JSON text, else `.json`' }),
  parse: fn.says('converts the text of a file to a catalogue', { default: JSON.parse, otherwise: '`JSON.parse`', type: '(text: string) => Catalogue' }),
  modes: list(mode, `functions and of ${MODES.join(', ').toLowerCase()}`).says(
    '`query`, `subdomain`, `cookie`, `header`, `url`, `tld`, or `(ctx) => locale`, which may return a promise; the first ' +
    'mode that finds a locale wins', { default: [], type: 'Array<Mode | OwnMode>' }),
  defaultLocale: text.says('locale of a request for which no mode finds one', { otherwise: 'the first of `locales`' }),
  fallback: text.or(off).says('locale whose texts replace the missing texts of another locale; `false`: no replacement',
    { otherwise: 'the default locale' }),
  key: text.says('name of the query parameter and of the cookie', { default: 'locale' }),
  ...each(refused('catalogues are read once and never written'), 'devMode', 'indent', 'dump'), // of i18n-2
  register: refused('the helpers are in ctx.state'),
  cookieName: refused('name the cookie by `key`')
})
