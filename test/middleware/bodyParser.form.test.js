'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const qs = require('qs')
const form = require('../../middleware/_shared/form')
const { random } = require('../helpers/random')

// What koa-bodyparser gives qs. The intentional differences, which the generated forms avoid: more than
// `depth` levels are a 400, more than `parameterLimit` pairs a 413, a list longer than `arrayLimit`
// stays an array where qs makes it an object, and what is both a value and an index beyond that
// limit (`a=1&a[20]=2`) is an array of both. (So is what is a value and an object in three different
// spellings, one in a hundred thousand of these forms: not in the seeds used.)
const SETTINGS = { allowDots: true }

const NAMES = [
  'a', 'b', 'user', 'a.b', 'a.b.c', 'é', '%E4%BD%A0', 'a+b', '', ' ', '0', '7', '.a', 'a.', 'a..b', 'toString',
  '__proto__', 'constructor', 'hasOwnProperty', '%', '%zz', 'x]y', ']', 'a%2Eb'
]
const BRACKETS = [
  '[]', '[0]', '[1]', '[3]', '[9]', '[01]', '[-1]', '[b]', '[c]', '[b.c]', '[__proto__]',
  '[constructor]', '[prototype]', '[toString]', '[[x]]', '[x', '[', '[]]', '[ ]', '[é]', '%5B%5D', '%5Bq%5D'
]
const VALUES = ['1', '2', '', 'a b', 'a+b', '%20', '%E4%BD%A0', '%', '%E4', '=', 'x=y', ']=z', 'true', '[]']

function makeForm (rnd) {
  const pairs = []
  const size = 1 + rnd.int(6)
  for (let i = 0; i < size; i++) {
    let key = rnd.pick(NAMES)
    const depth = rnd.int(3)
    for (let j = 0; j < depth; j++) key += rnd.pick(BRACKETS)
    pairs.push(rnd.chance(0.1) ? key : `${key}=${rnd.pick(VALUES)}`)
  }
  return pairs.join('&')
}

describe('forms beside qs', () => {
  for (let seed = 1; seed <= 4; seed++) {
    it(`should be read the same when generated, seed ${seed}`, () => {
      const rnd = random(seed)
      const parse = form(SETTINGS)
      for (let i = 0; i < 5000; i++) {
        const text = makeForm(rnd)
        assert.deepEqual(parse(text), qs.parse(text, SETTINGS), JSON.stringify(text))
      }
    })
  }

  it('should be read the same without dots and with another depth', () => {
    const rnd = random(7)
    const settings = { allowDots: false, depth: 3 }
    const parse = form(settings)
    for (let i = 0; i < 2000; i++) {
      const text = makeForm(rnd)
      assert.deepEqual(parse(text), qs.parse(text, settings), JSON.stringify(text))
    }
  })

  it('should be read the same when ids are keys', () => {
    for (const [text, arrayLimit] of [
      ['qty[1042]=3&qty[7]=1', 20], ['qty[20]=3&qty[21]=1', 20], ['a[2]=x&a[1]=y', 2], ['a[1][n]=x&a[30][n]=y', 20]
    ]) assert.deepEqual(form({ arrayLimit })(text), qs.parse(text, { arrayLimit }))
  })

  it('should refuse more levels than depth, where qs joins the rest into a name', () => {
    const text = 'a[b][c][d][e][f][g]=1'
    assert.deepEqual(qs.parse(text), { a: { b: { c: { d: { e: { f: { '[g]': '1' } } } } } } })
    assert.throws(() => form()(text), { status: 400, type: 'depth.exceeded' })
    assert.deepEqual(form()('a[b][c][d][e][f]=1'), { a: { b: { c: { d: { e: { f: '1' } } } } } })
    assert.throws(() => form({ depth: 1 })('a[b][c]=1'), { status: 400 })
  })

  it('should refuse more pairs than parameterLimit, where qs drops the rest', () => {
    const text = Array.from({ length: 1001 }, (_, i) => `k${i}=1`).join('&')
    assert.equal(Object.keys(qs.parse(text)).length, 1000)
    assert.throws(() => form()(text), { status: 413, type: 'parameters.too.many' })
    assert.equal(Object.keys(form({ parameterLimit: 1001 })(text)).length, 1001)
  })

  it('should read everything without a limit', () => {
    for (const limit of [2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 2 ** 33 - 1, Number.MAX_VALUE, Infinity]) {
      for (const options of [{ parameterLimit: limit }, { depth: limit }]) {
        assert.deepEqual(form(options)('a[b][c]=1&d=2'), { a: { b: { c: '1' } }, d: '2' }, `${limit}`)
      }
    }
  })

  it('should keep a long list an array, where qs makes it an object', () => {
    const text = Array.from({ length: 100 }, (_, i) => `a[]=${i}`).join('&')
    assert.equal(form()(text).a.length, 100)
    assert.ok(Array.isArray(form()(text).a))
  })

  it('should make no array longer than its parts say', () => {
    assert.deepEqual(form()('a[999999999]=x'), { a: { 999999999: 'x' } })
    assert.deepEqual(form({ arrayLimit: 0 })('a[0]=x'), { a: { 0: 'x' } })
  })

  it('should reach no prototype', () => {
    for (const key of [
      '__proto__[x]', '__proto__.x', 'a[__proto__][x]', 'constructor[prototype][x]', 'a.constructor.prototype.x',
      '[__proto__][x]', '%5F_proto__[x]', '__proto__', '[[__proto__]][x]', 'a[__proto__', 'a[]][__proto__][x]'
    ]) {
      const body = form()(`${key}=1`)
      assert.equal(Object.getPrototypeOf(body), Object.prototype, key)
      assert.ok(!('x' in {}) && body.x === undefined, key)
    }
  })

  it('should stay linear in what an attacker repeats', () => {
    // 1000 pairs of every kind at the form's limit: a quadratic merge would take seconds
    for (const key of ['a', 'a[]', 'a[b]', 'a[0]', 'a[][b]', '[]', 'a.b', 'a[[[[', 'a]]]]', '.', 'a.'.repeat(20)]) {
      const text = Array.from({ length: 1000 }, (_, i) => `${key}=${i}`).join('&')
      assert.doesNotThrow(() => { try { form()(text) } catch (err) { assert.equal(err.status, 400) } })
    }
  })
})
