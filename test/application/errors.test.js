'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const { codes } = require('../../lib/errors')

const root = path.dirname(require.resolve('kone/package.json'))

/** Every KONE_ERR_* that a folder's files of some extension name. */
function named (folder, extension) {
  const found = new Map()
  for (const entry of fs.readdirSync(path.join(root, folder), { recursive: true })) {
    if (!entry.endsWith(extension)) continue
    const text = fs.readFileSync(path.join(root, folder, entry), 'utf8')
    for (const [code] of text.matchAll(/\bKONE_ERR_\w+/g)) {
      if (!code.endsWith('_')) found.set(code, path.join(folder, entry))
    }
  }
  return found
}

describe('the error codes', () => {
  it('should each be explained in lib/errors.js, in a sentence that ends with the status', () => {
    assert(Object.keys(codes).length > 0)
    for (const [code, meaning] of Object.entries(codes)) {
      assert.match(code, /^KONE_ERR_[A-Z0-9_]+$/)
      assert(meaning.split(' ').length > 3, `${code}: ${meaning}`)
    }
  })

  it('should be listed there if the code uses them, and used if they are listed', () => {
    const used = new Map([...named('lib', '.js'), ...named('middleware', '.js')])
    for (const [code, file] of used) assert(codes[code], `${code} of ${file} is not in lib/errors.js`)
    const elsewhere = ['lib', 'middleware'].flatMap(folder => {
      return fs.readdirSync(path.join(root, folder), { recursive: true })
        .filter(file => file.endsWith('.js'))
        .map(file => fs.readFileSync(path.join(root, folder, file), 'utf8'))
    }).join('\n').replace(/const codes = \{[^}]*\}/, '')
    for (const code of Object.keys(codes)) assert(elsewhere.includes(code), `${code} is never used`)
  })
})
