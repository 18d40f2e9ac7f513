'use strict'

const { createHash } = require('node:crypto')
const { readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const figures = require('./assets/figures')

const THEMES = ['auto', 'light', 'dark']
const UNITS = ['byte', 'kilobyte', 'megabyte']

/** Changes with the files in assets, so that a browser may keep them for long. */
const version = hashOf(join(__dirname, 'assets'))

/** Options of the template middleware. */
exports.template = {
  options: {
    globals: {
      languages: { en: 'English', zh: '中文' },
      themes: { auto: 'System', light: 'Light', dark: 'Dark' },
      code: codeOf('pages.js', 'api.js', 'errors.js'),
      figures,
      version
    },
    filters: {
      iso: ms => new Date(ms).toISOString(),
      date: (ms, lang) => new Intl.DateTimeFormat(lang, {
        dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC'
      }).format(ms),
      number: (value, lang) => figures.number(value, lang),
      percent: (share, lang) => figures.percent(share, lang),
      size
    },
    trimBlocks: true,
    lstripBlocks: true
  }
}

/** What every page shows: who is signed in, and the chosen theme. */
exports.locals = function locals (ctx, next) {
  const theme = ctx.cookies.get('theme')
  ctx.state.user = ctx.session.user
  ctx.state.theme = THEMES.includes(theme) ? theme : 'auto'
  ctx.state.path = ctx.path
  ctx.state.lang = ctx.t('lang')
  ctx.state.host = ctx.host
  return next()
}

exports.THEMES = THEMES

/** 11357 → '11.4 kB' */
function size (bytes, lang) {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1)
  return new Intl.NumberFormat(lang, {
    style: 'unit', unit: UNITS[power], unitDisplay: power === 0 ? 'long' : 'short', maximumFractionDigits: 1
  }).format(bytes / 1000 ** power)
}

function hashOf (folder) {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, 8)
}

/** The routes that pages show: what stands between `// <name>` and `// </name>` in these files. */
function codeOf (...files) {
  const text = files.map(file => readFileSync(join(__dirname, file), 'utf8')).join('')
  const found = text.matchAll(/^ *\/\/ <(\w+)>\n([\s\S]*?)^ *\/\/ <\/\1>$/gm)
  return Object.fromEntries(Array.from(found, ([, name, lines]) => [name, (lines.startsWith(' ') ? lines.replace(/^ {2}/gm, '') : lines).trim()]))
}
