'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')

const { codes } = require('../../lib/core/errors')

const root = path.dirname(require.resolve('kone/package.json'))

/** The code of lib and middleware, without the list itself. */
const code = ['lib', 'middleware'].flatMap(folder => fs.readdirSync(path.join(root, folder), { recursive: true })
  .filter(file => file.endsWith('.js'))
  .map(file => fs.readFileSync(path.join(root, folder, file), 'utf8'))
).join('\n').replace(/const codes = \{[^}]*\}/, '')

describe('the error codes', () => {
  it('should each be explained in lib/core/errors.js, in a sentence that ends with the status', () => {
    assert(Object.keys(codes).length > 0)
    for (const [code, meaning] of Object.entries(codes)) {
      assert.match(code, /^KONE_ERR_[A-Z0-9_]+$/)
      assert(meaning.split(' ').length > 3, `${code}: ${meaning}`)
    }
  })

  it('should be listed there if the code uses them, and used if they are listed', () => {
    const used = new Set(code.match(/\bKONE_ERR_\w*[^\W_]\b/g))
    assert.deepEqual([...used].sort(), Object.keys(codes).sort())
  })
})
