'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { Linter } = require('eslint')

/**
 * What people read in a file: comments, texts of several words, and Markdown without its code.
 *
 *    prose('lib/compose.js')   // [{ line: 3, text: 'Compose middleware into one function.' }]
 *
 * @param {String} file  .js, .mjs, .cjs, .ts, .mts or .md
 * @param {String} [source]  default: what is in the file
 * @return {{ line: Number, text: String }[]}
 */
exports.prose = function (file, source = fs.readFileSync(file, 'utf8')) {
  switch (path.extname(file)) {
    case '.md': return ofMarkdown(source)
    case '.ts':
    case '.mts': return ofTypes(source)
    default: return ofScript(source)
  }
}

function ofMarkdown (source) {
  const blank = text => text.replace(/[^\n]/g, ' ')
  const bare = source
    .replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, blank)
    .replace(/`[^`\n]*`/g, blank)
    .replace(/\]\([^)\s]*\)/g, blank)
  return bare.split('\n').map((text, i) => ({ line: i + 1, text })).filter(({ text }) => text.trim())
}

function ofTypes (source) {
  const found = []
  for (const { 0: text, index } of source.matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm)) {
    const first = source.slice(0, index).split('\n').length
    text.split('\n').forEach((line, i) => found.push({ line: first + i, text: withoutCode(line) }))
  }
  return found
}

function ofScript (source) {
  const found = []
  const take = (text, line) => {
    if (/\S\s+\S/.test(text)) text.split('\n').forEach((part, i) => found.push({ line: line + i, text: withoutCode(part) }))
  }
  const rule = {
    create: context => ({
      Program () {
        for (const { value, loc } of context.sourceCode.getAllComments()) take(value, loc.start.line)
      },
      Literal ({ value, loc }) {
        if (typeof value === 'string') take(value, loc.start.line)
      },
      TemplateElement ({ value, loc }) {
        take(value.cooked ?? value.raw, loc.start.line)
      }
    })
  }
  const messages = new Linter().verify(source.replace(/^#!/, '//'), [{
    files: ['**/*'],
    languageOptions: { ecmaVersion: 'latest', sourceType: /^(?:import|export) /m.test(source) ? 'module' : 'commonjs' },
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'off' },
    plugins: { prose: { rules: { take: rule } } },
    rules: { 'prose/take': 'error' }
  }], 'file.js')
  const [broken] = messages.filter(({ fatal }) => fatal)
  if (broken) throw new SyntaxError(`line ${broken.line}: ${broken.message}`)
  return found
}

// Examples in JSDoc stand four columns further in than its text.
const withoutCode = line => /^ \* {4,}/.test(line) ? '' : line.replace(/`[^`]*`/g, '')
