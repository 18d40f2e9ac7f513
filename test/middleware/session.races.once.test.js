'use strict'

const assert = require('node:assert/strict')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const startRedis = require('../helpers/redis')
const rows = require('../helpers/session-rows')
const share = require('../helpers/share')

const { KEY, STORES, inStores, open } = rows
const SEEDS = Array.from({ length: share(4, 6, 12) }, (_, i) => i + 1)
const OPTIONS = [{}, { rolling: true }, { renew: true }].map(options => ({ maxAge: 3600e3, ...options }))

async function renewWhileItIsSaved (ctx) {
  const saving = ctx.session.save()
  ctx.sessionHandler.regenerateId()
  await saving
}

// A visit of ann begins and ends while another one of hers, which has the session already, waits.
const TABLE = [
  ...[['read', 'mark="late"'], ['read'], ['read', 'save'], ['nothing']].map(([first, ...then]) => [
    `should not undo a sign-out (${[first, ...then]})`, OPTIONS,
    ['mark="ada"', { mark: 'ada' }],
    [[first, ['null', null, { cookie: 'cleared', stored: {} }], ...then], undefined, { lines: 0, stored: {} }]
  ]),
  ...[['read'], ['read', 'save'], ['nothing']].map(([first, ...then]) => [`should not revert a write (${[first, ...then]})`, OPTIONS,
    ['mark="old"', { mark: 'old' }],
    [[first, ['mark="new"', { mark: 'new' }], ...then], undefined, { stored: { ann: { mark: 'new' } } }]]),
  ...['null', 'mark="late", save, null'].map(acts => [`should clear the cookie of a sign-out whose session has got another id (${acts})`,
    OPTIONS,
    ['mark="ada"', { mark: 'ada' }],
    [['read', ['renew', { mark: 'ada' }, { id: 'new' }], acts], null, { cookie: 'cleared', stored: { nobody: { mark: 'ada' } } }]]),
  ['should give a new id although a save is not finished', OPTIONS,
    ['mark="stranger"', { mark: 'stranger' }],
    [['mark="ada"', renewWhileItIsSaved], { mark: 'ada' }, { cookie: 'sent', id: 'new', value: /^[\w-]{32}$/, stored: { ann: { mark: 'ada' } } }]],
  ['should destroy a session although a save is not finished', OPTIONS,
    ['mark="ada"', { mark: 'ada' }], ['mark="late", begin to save, null', null, { cookie: 'cleared', stored: {} }]]
]

/** Acts of a random visit, and whether they write and destroy. */
const ACTIONS = [
  () => ({ acts: [] }),
  () => ({ acts: ['read'] }),
  mark => ({ acts: [`mark="${mark}"`], writes: true }),
  () => ({ acts: ['save'] }),
  () => ({ acts: ['null'], destroys: true }),
  mark => ({ acts: [`mark="${mark}"`, 'save', 'null'], writes: true, destroys: true }),
  () => ({ acts: ['renew'], destroys: true }),
  mark => ({ acts: [`mark="${mark}"`, renewWhileItIsSaved], writes: true, destroys: true }),
  mark => ({ acts: [`mark="${mark}"`, 'begin to save', 'null'], writes: true, destroys: true })
]

/**
 * Rounds of visits that have one id and overlap at random. An id that one of them has destroyed stays unknown; what is stored
 * otherwise is what a visit of this round has written, or what was there before.
 */
async function model (world, rnd) {
  const gone = new Set()
  let { value: id } = await world.visit('mark="first"')
  let before = 'first'

  for (let round = 0; round < 6; round++) {
    const count = 2 + rnd.int(4)
    let release
    let begun = 0
    const released = new Promise(resolve => { release = resolve })
    const waits = () => { if (++begun === count) release(); return released }
    const visits = Array.from({ length: count }, async (_, i) => {
      const mark = `${round}.${i}`
      const { acts, ...does } = rnd.pick(ACTIONS)(mark)
      const turns = rnd.int(8)
      world.jars[i] = { [KEY]: id }
      const seen = await world.visit([`${i}: ${rnd.chance(0.7) ? 'read' : 'nothing'}`, waits, () => pass(turns), ...acts])
      assert.equal(seen.status, 200)
      return { acts, mark, set: seen.cookie === 'sent' && seen.value, ...does }
    })
    const log = await Promise.all(visits)

    const what = `round ${round}: ${JSON.stringify(log)}`
    const records = await world.records()
    if (log.some(({ destroys }) => destroys)) gone.add(id)
    for (const one of gone) assert.equal(records.get(one), undefined, what)
    const marks = log.filter(({ writes }) => writes).map(({ mark }) => mark)
    const stored = records.get(id)?.mark
    if (!gone.has(id)) assert.ok((marks.length === 0 ? [before] : marks).includes(stored), `${stored}, ${what}`)

    const alive = log.map(({ set }) => set).filter(set => records.has(set))
    if (alive.length > 0) id = rnd.pick(alive)
    else if (gone.has(id)) id = (await world.visit(`new${round}: mark="again ${round}"`)).value
    before = (await world.records()).get(id).mark
  }
  assert.deepEqual(world.errors, [])
}

async function pass (turns) {
  for (; turns > 0; turns--) await new Promise(setImmediate)
}

function suite (title, store) {
  rows(title, TABLE, { only: ['kone'], store })
  frameworks(title, suite => {
    for (const options of OPTIONS) {
      for (const seed of SEEDS) {
        suite.it(`should bring back no id, and revert no write, of random visits (${JSON.stringify(options)}, seed ${seed})`, async () => {
          const rnd = random(seed)
          await model(open(suite, { store: () => store(rnd), ...options }), rnd)
        })
      }
    }
  }, ['kone'])
}

/** A client of other software, which has these three commands. */
async function few (port) {
  const { client, stop } = await startRedis.CLIENTS.ioredis(port)
  return { client: Object.fromEntries(['get', 'set', 'del'].map(name => [name, (...args) => client[name](...args)])), stop }
}

const { memory, slow, immediate } = STORES
inStores('parallel visits of a session', { memory, 'a store of promises': slow, 'a synchronous store': immediate }, suite,
  { ...startRedis.CLIENTS, 'get, set and del': few })
