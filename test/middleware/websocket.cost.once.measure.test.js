'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const CONTENDERS = require('./websocket.cost')

describe('what a message of a WebSocket costs', () => {
  it('should stay near that of ws, by events and by a loop', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [require.resolve('./websocket.cost')])
    const ratios = JSON.parse(stdout)
    for (const [name, { bound, of }] of Object.entries(CONTENDERS)) {
      if (of !== undefined) assert(ratios[name] <= bound, `${name}: ${ratios[name]} of ${of}, ${bound} are allowed`)
    }
  })
})
