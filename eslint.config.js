'use strict'

const jsdoc = require('eslint-plugin-jsdoc')
const neostandard = require('neostandard')
const regexp = require('eslint-plugin-regexp')
const methods = require('./tools/eslint/methods')
const owners = require('./tools/eslint/owners')
const prose = require('./tools/eslint/prose')

const SCRIPTS = '**/*.{js,cjs,mjs,ts,mts}'
const kone = { rules: { methods, owners, prose: prose.rule } }

const lines = {
  ignoreUrls: true,
  ignoreStrings: true,
  ignoreTemplateLiterals: true,
  ignoreRegExpLiterals: true
}

// Jest before 27.1 and other old loaders know no prefix; Koa has none.
const NO_PREFIX = {
  selector: "CallExpression[callee.name='require'] > Literal[value=/^node:/]",
  message: 'Leave node: out: Jest before 27.1 does not find it.'
}

const PERFORMANCE = { name: 'performance', message: 'Require perf_hooks: Jest before 28 has no such global.' }

// Read by a module when it is loaded or needs them, they may be those of a test that fakes them.
const USE_TIMERS = 'Use lib/shared/timers.js: the tests of an app fake timers and clocks.'

const TIMERS = [
  "CallExpression[callee.name='require'] > Literal[value=/^timers\\b/]",
  "MemberExpression[object.name='process'][property.name=/^(?:nextTick|hrtime)$/]",
  "VariableDeclarator[init.arguments.0.value='process'] Property[key.name=/^(?:nextTick|hrtime)$/]"
]

const CLOCKS = [
  "CallExpression[callee.name='require'] > Literal[value='perf_hooks']",
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "MemberExpression[object.name='Date'][property.name='now']"
]

const restricted = selectors => selectors.map(selector => ({ selector, message: USE_TIMERS }))
const restrictedGlobals = (...names) => names.map(name => ({ name, message: USE_TIMERS }))

module.exports = [
  { ignores: ['coverage/', 'benchmarks/out/', 'create/template/', 'docs/.vitepress/dist/', 'test/docs/project/config/locales/'] },
  ...neostandard({ ts: true }).map(config => ({ files: [SCRIPTS], ...config })), // not Markdown
  { files: ['examples/app/assets/*.js'], languageOptions: { globals: { DOMParser: 'readonly', EventSource: 'readonly', figures: 'writable' } } },
  { files: [SCRIPTS], rules: { '@stylistic/max-len': ['error', { ...lines, code: 120 }] } },
  {
    // A client must not choose text on which an expression takes more than linear time.
    files: ['lib/**/*.js', 'middleware/**/*.js', 'cluster/**/*.js', 'create/**/*.js', 'pm2.js'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }]
    }
  },
  {
    // One dialect: types as TypeScript writes them, @return, and @api for what is public (of an object: all of it).
    files: ['lib/**/*.js', 'middleware/**/*.js', 'tools/**/*.js'],
    plugins: { jsdoc },
    settings: { jsdoc: { mode: 'typescript', tagNamePreference: { returns: 'return' } } },
    rules: {
      'jsdoc/check-alignment': 'error',
      'jsdoc/check-param-names': ['error', { checkDestructured: false, disableMissingParamChecks: true }],
      'jsdoc/check-tag-names': ['error', { definedTags: ['api'] }],
      'jsdoc/check-types': 'error',
      'jsdoc/check-values': 'error',
      'jsdoc/empty-tags': 'error',
      'jsdoc/require-param-name': 'error',
      'jsdoc/require-param-type': 'error',
      'jsdoc/require-hyphen-before-param-description': ['error', 'never'],
      'jsdoc/require-returns-type': 'error',
      'jsdoc/valid-types': 'error'
    }
  },
  {
    // The language of the oldest Node that the lab measures: 0.8.
    files: ['benchmarks/labs/versions/{contenders,io}.js', 'benchmarks/lib/servers/{host,serve}.js'],
    rules: { 'no-var': 'off', 'object-shorthand': 'off', 'n/no-deprecated-api': 'off' }
  },
  {
    // A worker has a figure for every request: so many arguments overflow the stack.
    files: ['benchmarks/lib/load/*-worker.js'],
    rules: {
      'no-restricted-syntax': ['error', {
        selector: "CallExpression[callee.object.name='Math'] > SpreadElement",
        message: 'Use reduce(): a call takes some ten thousand arguments only.'
      }]
    }
  },
  { files: [`test/${SCRIPTS}`, `benchmarks/${SCRIPTS}`], rules: { '@stylistic/max-len': ['error', { ...lines, code: 130 }] } },
  {
    files: ['middleware/**/*.js'],
    rules: {
      'no-restricted-syntax': ['error', NO_PREFIX, ...restricted(TIMERS)],
      'no-restricted-globals': ['error', PERFORMANCE, ...restrictedGlobals('setImmediate', 'queueMicrotask')]
    }
  },
  {
    // An app's time, as that of timeout(), is the middleware set's: lib has none.
    files: ['lib/**/*.js'],
    ignores: ['lib/shared/timers.js'],
    rules: {
      'no-restricted-syntax': ['error', NO_PREFIX, ...restricted([...TIMERS, ...CLOCKS])],
      'no-restricted-globals': ['error', PERFORMANCE, ...restrictedGlobals(
        'setImmediate', 'queueMicrotask', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'clearImmediate'
      )]
    }
  },
  {
    // Node need not call a method that somebody has put in place of its own.
    files: ['lib/**/*.js', 'middleware/**/*.js', 'cluster/**/*.js'],
    plugins: { kone },
    rules: { 'kone/methods': 'error' }
  },
  {
    // One owner per fact: no file writes a field of an object of another file's class.
    files: ['lib/**/*.js'],
    plugins: { kone },
    rules: { 'kone/owners': 'error' }
  },
  {
    files: [SCRIPTS],
    ignores: ['tools/eslint/prose.js', 'test/lint.test.js', '**/fixtures/**', '**/results/**', '**/locales/**', '**/.vitepress/**'],
    plugins: { kone },
    rules: { 'kone/prose': 'error' }
  },
  {
    files: ['**/*.md'],
    ignores: ['**/fixtures/**', '**/results/**'],
    languageOptions: { parser: prose.markdown },
    plugins: { kone },
    rules: { 'kone/prose': 'error' }
  },
  { files: ['README.md'], rules: { 'max-lines': ['error', 119] } }
]
