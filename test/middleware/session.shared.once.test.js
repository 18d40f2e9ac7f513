'use strict'

const assert = require('node:assert/strict')
const rows = require('../helpers/session-rows')

const { act, inStores } = rows

const HOUR = 3600e3
const LOOK = { role: 'guest', prefs: { theme: 'light' }, seen: [{ page: 1 }] }

class Guest {
  constructor () { Object.assign(this, structuredClone(LOOK)) }
}

class Hidden {
  #look = structuredClone(LOOK)
  toJSON () { return this.#look }
}

/** Objects that an app keeps and assigns to the sessions of all clients. */
const SHARED = {
  'a plain object': () => structuredClone(LOOK),
  'a frozen object': () => freeze(structuredClone(LOOK)),
  'a sealed object': () => Object.seal(structuredClone(LOOK)),
  'an object without a prototype': () => Object.assign(Object.create(null), structuredClone(LOOK)),
  'an instance': () => new Guest(),
  'an instance that makes its JSON itself': () => new Hidden(),
  'an object with getters': () => ({ get role () { return 'guest' }, prefs: { theme: 'light' }, seen: [{ page: 1 }] }),
  'the session of another request': ctx => {
    ctx.session = structuredClone(LOOK)
    return ctx.session
  }
}

/** Ways to change one client's session. What the other one has must stay as it was. */
const CHANGES = [
  ctx => { Object.assign(ctx.session, { role: 'admin', user: 'ann' }) },
  ctx => { ctx.session.prefs.theme = 'dark' },
  ctx => { ctx.session.seen.push(2); ctx.session.seen[0].page = 2 },
  `maxAge=${9 * HOUR}`,
  'regenerate',
  'save',
  'null'
]

/** A store that keeps and gives back the very objects, and the same one for all ids that it does not know. */
function objects () {
  const nobody = structuredClone(LOOK)
  const sessions = new Map()
  return {
    get: id => sessions.get(id) ?? nobody,
    set (id, value) { sessions.set(id, value) },
    destroy (id) { sessions.delete(id) }
  }
}

const lookOf = ({ session }) => [JSON.parse(JSON.stringify(session)), session.maxAge, session.isNew, session.externalKey]

/** Ann changes her session while Bob's visit, which was given the same object, is not over. */
function apart (make, change, i) {
  return [
    ['cid: nothing', (ctx, world) => { world.shared = make(ctx) }],
    [`ann${i}: nothing`, (ctx, world) => {
      world.anns = ctx
      ctx.session = world.shared
    }, [[`bob${i}: nothing`, (ctx, world) => {
      ctx.session = world.shared
      world.look = lookOf(ctx)
      assert.deepEqual(world.look[0], LOOK)
    }, (ctx, { anns }) => act(change)(anns), (ctx, { look }) => assert.deepEqual(lookOf(ctx), look)], 'hi']],
    [`bob${i}: nothing`, (ctx, { shared }) => {
      assert.deepEqual(JSON.parse(JSON.stringify(shared)), LOOK)
      ctx.body = [{ ...ctx.session }, ctx.session.maxAge]
    }]
  ].map((acts, i) => [acts, ['hi', 'hi', [LOOK, HOUR]][i]])
}

function freeze (value) {
  for (const inner of Object.values(value)) if (typeof inner === 'object') freeze(inner)
  return Object.freeze(value)
}

const TABLE = [
  ...Object.entries(SHARED).map(([kind, make]) => [`should give each client a session of its own: ${kind}`,
    [{}, { renew: true }, { rolling: true, signed: true }].map(options => ({ maxAge: HOUR, ...options })),
    ...CHANGES.flatMap((change, i) => apart(make, change, i))]),
  ['should give each of two visits data of its own', { maxAge: HOUR },
    [`session=${JSON.stringify(LOOK)}`, LOOK],
    [['read', [ctx => { ctx.session.prefs.theme = 'dark' }, { ...LOOK, prefs: { theme: 'dark' } }]], LOOK]],
  ['should keep the session that is assigned to itself', { maxAge: HOUR },
    [ctx => {
      const { session } = ctx
      ctx.session = session
      session.user = 'ann'
      ctx.session.maxAge = 9 * HOUR
    }, { user: 'ann' }],
    [ctx => { ctx.body = [{ ...ctx.session }, ctx.session.maxAge] }, [{ user: 'ann' }, 9 * HOUR]]]
]

const stores = { memory: 'memory', 'the cookie': 'sealed', 'a store of promises': 'promises', 'a store of objects': objects }
inStores('one object given to two sessions', stores, (title, store) => rows(title, TABLE, { only: ['kone'], store }))
