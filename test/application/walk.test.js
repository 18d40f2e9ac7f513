'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { count, walk } = require('../../tools/walk')

// `node tools/walk.js` lists them. Lower these when the walk of a request gets shorter; what makes it longer has a reason.
const MOST = { functions: 108, files: 24 }

describe('the walk of a GET through five middleware', () => {
  it('should enter no more functions and files than before', () => {
    const files = walk('kone')
    assert(files.some(({ file }) => file === 'lib/engines/http1/index.js'), 'it goes through the front')
    assert(count(files) <= MOST.functions, `${count(files)} functions`)
    assert(files.length <= MOST.files, `${files.length} files`)
  })

  it('should be counted as koa’s, whose number is known', () => {
    const files = walk('koa')
    assert.deepEqual([count(files), files.length], [39, 10])
  })
})
