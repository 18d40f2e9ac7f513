'use strict'

const { afterEach, describe, it, mock } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { join } = require('node:path')
const process = require('node:process')
const { promisify } = require('node:util')

const { Connection } = require('../../../lib/front/connection')
const { Gate } = require('../../../lib/front/input/gate')
const { Incoming } = require('../../../lib/front/input/incoming')
const { Reader } = require('../../../lib/front/input/reader')
const { Responses } = require('../../../lib/front/output/responses')
const share = require('../../helpers/share')
const { VARIANTS, play } = require('./input.model')

/** `make fuzz` goes deeper; `make mutants` runs this for each mutant. */
const DEPTHS = process.env.KONE_MUTANTS ? '5,5' : share('6,5,3', '8,6,4')

describe('the front, for every sequence of events', () => {
  // In a process of its own: the hooks of the test runner make it five times slower.
  it('should do what is right on node:http', async t => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, 'input.model.js'), '--depths', DEPTHS])
    t.diagnostic(stdout)
  })
})

/** What the front once got wrong → how it does so again, and the path that shows it. */
const FAULTS = {
  'a read that takes what an earlier one found out': ['chunked, TCP', 'chunked+size', () => {
    const { receive } = Reader.prototype
    mock.method(Reader.prototype, 'receive', function (chunk) {
      const { body } = this.receiving
      const rest = receive.call(this, chunk)
      if (!body.isComplete && chunk.length < 8) this.connection.onBodyFull(body)
      return rest
    })
  }],
  'a FIN in front of the end of a body': ['length, TCP', 'length onend data data~fin', () => {
    mock.method(Gate.prototype, 'holdEnd', () => false)
  }],
  'an end in front of the microtasks of the last bytes': ['length, TCP', 'length once data+data', () => {
    mock.method(Connection.prototype, 'onBodyArrived', function (incoming) { this.onBodyEnd(incoming) })
  }],
  'a FIN in front of responses that wait for their client': ['chunked, TLS', 'chunked onend end~next fin', () => {
    const { advance } = Responses.prototype
    mock.method(Responses.prototype, 'advance', function () { advance.call(this) })
  }],
  'a second reader of a body that the handler has collected': ['length, TCP', 'handler:twice whole', () => {
    const { makeRequest } = Incoming.prototype
    mock.method(Incoming.prototype, 'makeRequest', function () {
      const { isCollected } = this
      this.isCollected = false
      makeRequest.call(this)
      this.isCollected = isCollected
    })
  }],
  'bytes behind the last response that are not read': ['last, TLS', 'last+size', () => {
    mock.getter(Gate.prototype, 'isReading', function () { return this.stops === 0 })
  }]
}

describe('the search', () => {
  afterEach(() => mock.reset())

  for (const [what, [name, path, again]] of Object.entries(FAULTS)) {
    it(`should find ${what}`, async () => {
      const missed = async () => (await play(VARIANTS[name], [path.split(' ')])).missed[0]
      assert.deepEqual(await missed(), [])
      again()
      assert.notDeepEqual(await missed(), [])
    })
  }
})
