'use strict'

const jsdoc = require('eslint-plugin-jsdoc')
const neostandard = require('neostandard')
const regexp = require('eslint-plugin-regexp')

const lines = {
  ignoreUrls: true,
  ignoreStrings: true,
  ignoreTemplateLiterals: true,
  ignoreRegExpLiterals: true
}

module.exports = [
  { ignores: ['coverage/', 'benchmarks/out/', 'create/template/', 'docs/.vitepress/dist/', 'test/docs/project/config/locales/'] },
  ...neostandard({ ts: true }),
  { files: ['examples/app/assets/*.js'], languageOptions: { globals: { EventSource: 'readonly', figures: 'writable' } } },
  { rules: { '@stylistic/max-len': ['error', { ...lines, code: 120 }] } },
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
    // One dialect: types as TypeScript writes them, @return, and @api for what is public.
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
    files: ['benchmarks/labs/versions/{contenders/*,io,empty}.js', 'benchmarks/lib/servers/{host,serve}.js'],
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
  { files: ['test/**', 'benchmarks/**'], rules: { '@stylistic/max-len': ['error', { ...lines, code: 130 }] } }
]
