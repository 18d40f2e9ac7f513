'use strict'

const neostandard = require('neostandard')

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
  { files: ['test/**', 'benchmarks/**'], rules: { '@stylistic/max-len': ['error', { ...lines, code: 130 }] } }
]
