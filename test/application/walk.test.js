'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { walks } = require('../../tools/walk')

// `node tools/walk.js` lists them. Lower these when the walk of a request gets shorter; what makes it longer has a reason.
const MOST = {
  'a GET': { functions: 108, lines: 817, files: 24 },
  'a POST with a body': { functions: 134, lines: 1026, files: 28 },
  'a stream': { functions: 164, lines: 1083, files: 29 },
  'an error': { functions: 128, lines: 962, files: 27 },
  'a pipelined pair': { functions: 127, lines: 924, files: 25 }
}

describe('the walk of a request through five middleware', () => {
  const kone = walks('kone')

  for (const [name, most] of Object.entries(MOST)) {
    it(`should enter no more functions, lines and files than before: ${name}`, () => {
      const { functions, lines, files, ofNode } = kone[name]
      assert(files.some(({ file }) => file === 'lib/engines/http1/index.js') && ofNode === 0, 'it goes through the front')
      assert(functions <= most.functions, `${functions} functions`)
      assert(lines <= most.lines, `${lines} lines`)
      assert(files.length <= most.files, `${files.length} files`)
    })
  }

  it('should be counted as koa’s, whose number is known', () => {
    const found = Object.values(walks('koa')).map(({ functions, files }) => [functions, files.length])
    assert.deepEqual(found, [[39, 10], [39, 10], [43, 11], [39, 10], [39, 10]])
  })
})
