'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const ts = require('typescript')
const { program } = require('../../docs/.vitepress/program')
const { blocks } = require('../helpers/blocks')
const temporary = require('../helpers/folder')
const { report } = require('./compile')

const ROOT = path.join(__dirname, '../..')

const { options: OPTIONS } = ts.convertCompilerOptionsFromJson({
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  esModuleInterop: true,
  skipLibCheck: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: ['node'],
  typeRoots: [path.join(ROOT, 'node_modules/@types')],
  paths: {
    kone: [path.join(ROOT, 'lib/index.d.ts')],
    'kone/client': [path.join(ROOT, 'lib/client.d.ts')],
    'kone/middleware': [path.join(ROOT, 'middleware/index.d.ts')],
    'kone/middleware/*': [path.join(ROOT, 'middleware/*/index.d.ts')]
  }
}, ROOT)

// A page is JavaScript: unannotated parameters are no fault of it, a value that may be missing is one.
const isFault = line => /error TS.*\b(?:undefined|null)\b|'err' is of type 'unknown'/.test(line)

const isTest = code => /\.inject[.(]|\.fetch\(new Request|'node:test'|'listening'|\bclient\('|\bcatch \(err\)/.test(code)

describe('the lines of a test, and of a catch, in a page', () => {
  it('should compile in a strict project of TypeScript, where they are copied to', () => {
    const folder = temporary()
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
    const inFolders = ['docs', 'middleware', 'create'].flatMap(name => fs.readdirSync(path.join(ROOT, name), { recursive: true })
      .filter(file => file.endsWith('.md') && !/node_modules|\.vitepress/.test(file)).map(file => path.join(name, file)))
    const pages = ['README.md', 'MIGRATION.md', ...inFolders]
    const files = pages.flatMap(page => filesOf(page, path.join(folder, page)))
    assert(files.length > 50, `${files.length}`)
    assert.deepEqual(report(ts, { rootNames: files, options: OPTIONS }, files).split('\n').filter(isFault), [])
  })
})

/** Write the blocks of a page, as the files that the page names or completed to programs. */
function filesOf (page, folder) {
  const found = blocks(fs.readFileSync(path.join(ROOT, page), 'utf8')).filter(({ language, from }) => !from && /^[jt]s$/.test(language))
  return found.flatMap(({ code, file, line }) => {
    const { text, isModule } = file ? { text: code, isModule: true } : program(code)
    const name = file?.replace(/js$/, 'ts') ?? `${line}.${isModule ? 'mts' : 'cts'}`
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    fs.writeFileSync(path.join(folder, name), `${typed(text)}\nexport {}\n`)
    return isTest(code) ? path.join(folder, name) : []
  })
}

/** With the types that a user of TypeScript writes. */
function typed (text) {
  return text
    .replace(/\(app, (?=.*=>)|\bapp(?= =>)/g, parameter => parameter[0] === '(' ? "(app: import('kone').default, " : "(app: import('kone').default)")
    .replace(/\bserver\.address\(\)/g, "(server.address() as import('node:net').AddressInfo)")
}
