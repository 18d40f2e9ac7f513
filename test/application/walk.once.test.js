'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { walks } = require('../../tools/walk')

// `node tools/walk.js` lists them. Lower these when the walk of a request gets shorter; what makes it longer has a reason.
// It prints lines, too; they are not held, because a comment is a line. A GET had 116 functions in 26 files before Host was
// checked, the states of a response were derived from one, and the turn of the event loop had a file. What is left is
// called from several places, is a getter that holds one rule, or is a member that Koa lets an app replace.
const MOST = {
  'a GET': { functions: 120, files: 26 }, // ctx.body= uses the setter of ctx.type, which may be the app's
  'a POST with a body': { functions: 139, files: 29 },
  'a stream': { functions: 181, files: 34 },
  'an error': { functions: 134, files: 28 },
  'a pipelined pair': { functions: 134, files: 26 } // isEmitPatched(): websocket() replaces a server's emit
}

describe('the walk of a request through five middleware', () => {
  const kone = walks('kone')

  for (const [name, most] of Object.entries(MOST)) {
    it(`should enter no more functions and files than before: ${name}`, () => {
      const { functions, files, ofNode } = kone[name]
      assert(files.some(({ file }) => file === 'lib/front/index.js') && ofNode === 0, 'it goes through the front')
      assert(functions <= most.functions, `${functions} functions`)
      assert(files.length <= most.files, `${files.length} files`)
    })
  }

  it('should be counted as koa’s, whose number is known', () => {
    const found = Object.values(walks('koa')).map(({ functions, files }) => [functions, files.length])
    assert.deepEqual(found, [[39, 10], [39, 10], [43, 11], [39, 10], [39, 10]])
  })
})
