'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const load = require('../helpers/load')
const share = require('../helpers/share')
const { SHAPES, isAlive, make, until } = require('./instance')

const EACH = share.long(4, 10) // each of the shapes once
const RELOADS = { node: EACH, pm2: share(2, EACH) } // a command of pm2 takes most of a second

describe('under fifty clients that never retry', { concurrency: 2 }, () => {
  for (const cluster of ['node', 'pm2']) {
    it(`${cluster} should lose no request in reloads, whatever the file exports`, async t => {
      const instance = await make(t, cluster)
      const shapes = Object.values(SHAPES)
      instance.write(shapes[0], 0)
      await instance.start()

      const clients = load.start(instance.port)
      const workers = await instance.workers()
      for (let version = 1; version <= RELOADS[cluster]; version++) {
        instance.write(shapes[version % shapes.length], version)
        const { code, lines } = await instance.run('reload')
        assert.deepEqual({ code, lines }, { code: 0, lines: [] })
        assert.deepEqual(workers.filter(isAlive), [])
        workers.push(...await instance.workers())
        await until(() => clients.versions.has(String(version)))
      }
      const { answered, counts, failures, versions } = await clients.stop()

      t.diagnostic(`${cluster}: ${RELOADS[cluster]} reloads, ${answered} answers ${JSON.stringify(counts)}, ` +
        `${failures.length} failed`)
      assert.equal(failures.join('\n'), '')
      assert.equal(versions.size, RELOADS[cluster] + 1)
      assert.equal(new Set(workers).size, 2 * (RELOADS[cluster] + 1))
      for (const count of Object.values(counts)) assert.notEqual(count, 0)
    })

    it(`${cluster} should lose with a killed worker only what it held, and replace it`, async t => {
      const instance = await make(t, cluster)
      instance.write(SHAPES.app)
      await instance.start()

      const clients = load.start(instance.port)
      await until(() => clients.workers.size === 2)
      const [killed, other] = await instance.workers()
      const held = clients.held(killed)
      process.kill(killed, 'SIGKILL')
      const workers = await until(async () => {
        const now = await instance.workers()
        return now.length === 2 && !now.includes(killed) && now
      })
      assert.ok(workers.includes(other))
      await until(() => clients.workers.size === 3)
      const since = clients.asked()
      await until(() => clients.asked() > since + 200)
      const { answered, failures } = await clients.stop()

      t.diagnostic(`${cluster}: one of two workers killed, ${answered} answers, ${failures.length} failed ` +
        `of its ${held} connections`)
      // A connection without any response may have been the killed worker's, until the new one serves.
      const excused = ({ id, worker }) => worker === killed || (worker === undefined && id <= since)
      assert.equal(failures.filter(failure => !excused(failure)).join('\n'), '')
      assert.ok(failures.filter(({ worker }) => worker === killed).length <= held, failures.join('\n'))
    })
  }
})
