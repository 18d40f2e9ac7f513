'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const koaCompose = require('koa-compose')

const koneCompose = require('kone/compose')

const pass = (ctx, next) => next()
const boom = () => { throw new Error('boom') }
const wait = (ms = 1) => new Promise(resolve => setTimeout(resolve, ms))

// What koa-compose does is the contract; both run every case.
for (const [name, compose] of [['koa-compose', koaCompose], ['koa-compose 4.2', require('koa-compose-4.2')], ['kone/compose', koneCompose]]) {
  describe(name, () => {
    for (const [what, values, message] of [
      ['array', [undefined, null, {}, 'fn', () => {}], 'Middleware stack must be an array!'],
      ['function', [[() => {}, undefined], [null], [{}], ['fn']], 'Middleware must be composed of functions!']
    ]) {
      it(`should refuse what is no ${what}`, () => {
        for (const value of values) assert.throws(() => compose(value), { name: 'TypeError', message })
      })
    }

    it('should give a function that gives a promise', async () => {
      const fn = compose([])
      assert.equal(typeof fn, 'function')
      assert(fn({}) instanceof Promise)
      assert.equal(await fn({}), undefined)
    })

    it('should give a promise for sync and async middleware and for values', () => {
      for (const fn of [() => {}, () => 1, async () => {}, () => Promise.resolve(1), () => null]) {
        assert(compose([fn])({}) instanceof Promise)
      }
    })

    const thenable = { then: resolve => resolve('then') }
    for (const [title, value, ...stack] of [
      ['the outermost gives', 'value', () => 'value'],
      ['an async function gives', 'value', async () => 'value'],
      ['next() gives', 'inner', pass, () => 'inner'],
      ['it is, 0', 0, () => 0],
      ['it is, null', null, () => null],
      ['a thenable resolves to', 'then', () => thenable],
      ['a thenable below resolves to', 'then!', async (ctx, next) => `${await next()}!`, () => thenable]
    ]) {
      it(`should resolve to what ${title}`, async () => assert.equal(await compose(stack)({}), value))
    }

    for (const [how, layer] of Object.entries({
      'awaiting next()': (n, calls) => async (ctx, next) => {
        calls.push(n)
        await wait()
        await next()
        await wait()
        calls.push(-n)
      },
      'chained on next()': (n, calls) => (ctx, next) => {
        calls.push(n)
        return next().then(() => calls.push(-n))
      }
    })) {
      it(`should run in, then out, ${how}, and compose what was composed`, async () => {
        const calls = []
        const layers = [1, 2, 3, 4].map(n => layer(n, calls))
        await compose(layers)({})
        assert.deepEqual(calls.splice(0), [1, 2, 3, 4, -4, -3, -2, -1])
        await compose([layers[0], compose([layers[1], compose([layers[2]])]), layers[3]])({})
        assert.deepEqual(calls, [1, 2, 3, 4, -4, -3, -2, -1])
      })
    }

    it('should give every layer the same context, and undefined as this', async () => {
      const context = {}
      await compose([
        function (ctx, next) {
          assert.equal(ctx, context)
          assert.equal(this, undefined)
          return next()
        },
        async ctx => assert.equal(ctx, context)
      ])(context)
    })

    it('should run without a context', async () => {
      assert.equal(await compose([ctx => ctx])(), undefined)
    })

    it('should call the next that is given after the last layer', async () => {
      const calls = []
      const value = await compose([async (ctx, next) => {
        calls.push(1)
        return next()
      }])({ a: 1 }, async ctx => {
        calls.push(2, ctx)
        return 'outer'
      })
      assert.deepEqual(calls, [1, 2, { a: 1 }])
      assert.equal(value, 'outer')
      assert.equal(await compose([])({}, () => 'outer'), 'outer')
    })

    it('should not call it when a layer does not call next', async () => {
      await compose([() => {}])({}, () => assert.fail('is not called'))
    })

    it('should be usable for several requests at once', async () => {
      const fn = compose([
        async (ctx, next) => {
          ctx.push(1)
          await wait(ctx.ms)
          await next()
          ctx.push(3)
        },
        ctx => { ctx.push(2) }
      ])
      const runs = [5, 1, 3].map(ms => Object.assign([], { ms }))
      await Promise.all(runs.map(run => fn(run)))
      for (const run of runs) assert.deepEqual([...run], [1, 2, 3])
    })

    it('should see what is pushed to the array later', { skip: name === 'koa-compose 4.2' && 'it copies the array' }, async () => {
      const stack = [pass]
      const fn = compose(stack)
      assert.equal(await fn({}), undefined)
      stack.push(() => 'late')
      assert.equal(await fn({}), 'late')
    })

    describe('errors', () => {
      it('should reject for what is thrown, and never throw', async () => {
        for (const fn of [boom, async () => boom()]) {
          await assert.rejects(compose([fn])({}), { message: 'boom' })
          await assert.rejects(compose([pass, fn])({}), { message: 'boom' })
        }
        await assert.rejects(compose([pass])({}, boom), { message: 'boom' }) // of the outer next
      })

      it('should reject with whatever is thrown', async () => {
        for (const thrown of [null, undefined, 'text', 0, { a: 1 }]) {
          const reason = await compose([() => { throw thrown }])({}).then(() => assert.fail('resolved'), reason => reason)
          assert.equal(reason, thrown)
        }
      })

      it('should never throw from next()', async () => {
        let given
        await assert.rejects(compose([(ctx, next) => (given = next()), boom])({}), { message: 'boom' })
        assert(given instanceof Promise)
      })

      it('should be catchable by await and by .catch()', async () => {
        assert.equal(await compose([async (ctx, next) => {
          try {
            await next()
          } catch (error) {
            return `caught ${error.message}`
          }
        }, boom])({}), 'caught boom')
        assert.equal(await compose([(ctx, next) => next().catch(error => error.message), boom])({}), 'boom')
      })
    })

    describe('next() called twice', () => {
      const twice = { message: 'next() called multiple times' }
      const awaits = async (ctx, next) => {
        await next()
        await next()
      }
      const returns = (ctx, next) => {
        next()
        return next()
      }

      for (const [when, ...stack] of [
        ['when it is awaited', awaits],
        ['when nothing is awaited', returns],
        ['when all is sync', returns, () => {}, () => {}],
        ['for a layer in the middle', pass, awaits, async (ctx, next) => next()]
      ]) {
        it(`should reject ${when}`, () => assert.rejects(compose(stack)({}), twice))
      }

      it('should not run what is below a second time, be it a layer or the outer next', async () => {
        let calls = 0
        const count = () => { calls++ }
        await assert.rejects(compose([awaits, count])({}), twice)
        await assert.rejects(compose([awaits])({}, count), twice)
        assert.equal(calls, 2)
      })

      it('should reject a next() that was kept and is called late', async () => {
        let kept
        await compose([async (ctx, next) => {
          kept = next
          await next()
        }])({})
        await assert.rejects(kept(), twice)
      })
    })

    it('should let a layer go on without waiting for what is below', async () => {
      const calls = []
      let release, done
      const released = new Promise(resolve => { release = resolve })
      const over = new Promise(resolve => { done = resolve })
      await compose([
        (ctx, next) => {
          next()
          calls.push('first')
        },
        async () => {
          await released
          calls.push('second')
          done()
        }
      ])({})
      assert.deepEqual(calls, ['first'])
      release()
      await over
      assert.deepEqual(calls, ['first', 'second'])
    })
  })
}

describe('kone/compose and koa-compose', () => {
  it('should run the same order of steps for any mix of layers', async () => {
    // Every kind of layer, in every order of four.
    const kinds = {
      sync: (log, n) => (ctx, next) => {
        log.push(n)
        next()
        log.push(-n)
      },
      returned: (log, n) => (ctx, next) => {
        log.push(n)
        return next()
      },
      chained: (log, n) => (ctx, next) => {
        log.push(n)
        return next().then(value => {
          log.push(-n, value)
          return n
        })
      },
      loose: (log, n) => (ctx, next) => {
        log.push(n)
        next().then(value => log.push(-n, value))
      },
      awaited: (log, n) => async (ctx, next) => {
        log.push(n)
        log.push(-n, await next())
        return n
      },
      value: (log, n) => () => {
        log.push(n)
        return n
      }
    }
    const names = Object.keys(kinds)
    for (let mix = 0; mix < names.length ** 4; mix++) {
      const stack = [0, 1, 2, 3].map(i => names[Math.floor(mix / names.length ** i) % names.length])
      const logs = []
      for (const compose of [koaCompose, koneCompose]) {
        const log = []
        log.push(await compose(stack.map((name, i) => kinds[name](log, i + 1)))({}))
        await new Promise(resolve => setImmediate(resolve))
        logs.push(log)
      }
      // The steps of one layer and the results are equal; microtasks between layers may differ.
      const sorted = logs.map(log => log.map(String).sort())
      assert.deepEqual(sorted[1], sorted[0], stack.join())
      assert.deepEqual(logs[1].filter(n => n > 0), logs[0].filter(n => n > 0), stack.join())
    }
  })
})

describe('kone/compose', () => {
  it('should run 10,000 layers, where koa-compose overflows the stack', async () => {
    const layers = Array(10000).fill(pass)
    await assert.rejects(koaCompose([...layers, () => 'bottom'])({}), RangeError)
    assert.equal(await koneCompose([...layers, () => 'bottom'])({}), 'bottom')
    assert.equal(await koneCompose([...Array(10000).fill(async (ctx, next) => await next()), () => 'bottom'])({}), 'bottom')
    await assert.rejects(koneCompose([...layers, boom])({}), { message: 'boom' })
  })

  // Only code that does not await next() sees the difference: a row of MIGRATION.md, What is different.
  it('should return from the first next() when 500 layers have begun, where all have in koa-compose', async () => {
    for (const [compose, count] of [[koaCompose, 600], [koneCompose, 500]]) {
      let begun = 0
      const stack = Array.from({ length: 600 }, () => (ctx, next) => {
        begun++
        return next()
      })
      let seen
      stack[0] = (ctx, next) => {
        begun++
        const promise = next()
        seen = begun
        return promise
      }
      await compose(stack)({})
      assert.deepEqual([seen, begun], [count, 600])
    }
  })

  it('should call every layer once, and make no more steps per layer the more there are', async () => {
    const steps = async count => {
      let calls = 0
      const stack = Array.from({ length: count }, () => (ctx, next) => {
        calls++
        return next()
      })
      // What compose reads of the array is its work: a proxy counts it.
      let reads = 0
      const counted = new Proxy(stack, {
        get (target, key) {
          reads++
          return target[key]
        }
      })
      const fn = koneCompose(counted)
      reads = 0
      await fn({})
      assert.equal(calls, count)
      return reads / count
    }
    const few = await steps(100)
    const many = await steps(5000)
    assert(many <= few * 1.1, `${many} reads per layer with 5,000 layers, ${few} with 100`)
  })

  it('should make no new promise for a chain that ends synchronously', () => {
    const fn = koneCompose([pass, pass, () => {}])
    assert.equal(fn({}), fn({}))
  })

  it('should give ENDED when nothing is left to run, and not when a layer kept the promise of its next()', () => {
    const { ENDED } = koneCompose
    assert.equal(koneCompose([])({}), ENDED)
    assert.equal(koneCompose([() => {}])({}), ENDED)
    assert.equal(koneCompose([pass, () => {}])({}), ENDED)
    const kept = koneCompose([(ctx, next) => { next().then(() => {}) }, () => {}])({})
    assert.notEqual(kept, ENDED)
    assert.equal(kept, koneCompose([(ctx, next) => { next() }, () => {}])({}))
  })

  it('should not count a layer that threw as one on the stack', () => {
    // each layer keeps its next() and throws; the next one runs when nothing is on the stack
    const kept = []
    const layers = Array.from({ length: 2000 }, () => (ctx, next) => {
      kept.push(next)
      throw new Error('thrown')
    })
    koneCompose(layers)({}).catch(() => {})
    for (let count = 1; count < layers.length; count++) {
      assert.equal(kept.length, count, 'a layer ran in a later tick')
      kept.at(-1)().catch(() => {})
    }
  })
})
