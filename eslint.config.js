'use strict'

const neostandard = require('neostandard')
const regexp = require('eslint-plugin-regexp')

const lines = {
  ignoreUrls: true,
  ignoreStrings: true,
  ignoreTemplateLiterals: true,
  ignoreRegExpLiterals: true
}

module.exports = [
  { ignores: ['coverage/', 'benchmarks/results/', 'benchmarks/contenders/era/', 'create/template/'] },
  ...neostandard({ ts: true }),
  { files: ['examples/app/assets/*.js'], languageOptions: { globals: { matchMedia: 'readonly', EventSource: 'readonly' } } },
  { rules: { '@stylistic/max-len': ['error', { ...lines, code: 110 }] } },
  {
    // A client must not choose text on which an expression takes more than linear time.
    files: ['lib/**/*.js', 'middleware/**/*.js', 'cluster/**/*.js', 'create/**/*.js', 'pm2.js'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }]
    }
  },
  { files: ['test/**', 'benchmarks/**'], rules: { '@stylistic/max-len': ['error', { ...lines, code: 130 }] } }
]
