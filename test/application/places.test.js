'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { placeIn } = require('../../lib/shared/places')

describe('the innermost call of the app', () => {
  const folders = ['/srv/app', '/srv/a (b)', '/srv/a b) (c', '/srv/ünï:1']
  const frames = {
    'a function': at => `render (${at})`,
    'no function': at => at,
    'an async function': at => `async render (${at})`,
    'no function, async': at => `async ${at}`,
    'a constructor': at => `new View (${at})`,
    'a method with another name': at => `View.render [as show] (${at})`
  }
  for (const [what, frame] of Object.entries(frames)) {
    it(`should be found in ${what}, whatever its folder is called`, () => {
      for (const folder of folders) {
        const stack = `Error: of /srv/x.js:9:9\n    at ${frame(`${folder}/a.js:1:26`)}\n    at /srv/outer.js:2:2`
        assert.deepEqual(placeIn({ stack }), { file: `${folder}/a.js`, row: 1, column: 26 })
      }
    })
  }

  it('should be searched behind what is no file of the app', () => {
    const others = ['file://host/x.js:1:2', 'node:fs:1:2', 'f (node:fs:1:2)', 'native', 'eval (eval at f (/srv/e.js:1:2), <anonymous>:1:1)', '/srv/node_modules/a/index.js:1:2']
    for (const other of others) {
      assert.deepEqual(placeIn({ stack: `Error: a\n    at ${other}\n    at f (file:///srv/a%20b.js:3:4)` }), { file: '/srv/a b.js', row: 3, column: 4 })
      assert.equal(placeIn({ stack: `Error: a\n    at ${other}` }), null)
    }
  })
})
