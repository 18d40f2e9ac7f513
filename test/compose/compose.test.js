'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const koaCompose = require('koa-compose')

const koneCompose = require('kone/compose')

const wait = (ms = 1) => new Promise(resolve => setTimeout(resolve, ms))

// What koa-compose does is the contract; both run every case.
for (const [name, compose] of [['koa-compose', koaCompose], ['kone/compose', koneCompose]]) {
  describe(name, () => {
    describe('given the wrong thing', () => {
      it('should refuse what is no array', () => {
        for (const value of [undefined, null, {}, 'fn', () => {}]) {
          assert.throws(() => compose(value),
            { name: 'TypeError', message: 'Middleware stack must be an array!' })
        }
      })

      it('should refuse what is no function', () => {
        for (const value of [undefined, null, {}, 'fn']) {
          assert.throws(() => compose([() => {}, value]),
            { name: 'TypeError', message: 'Middleware must be composed of functions!' })
        }
      })
    })

    it('should give a function that gives a promise', async () => {
      const fn = compose([])
      assert.equal(typeof fn, 'function')
      assert(fn({}) instanceof Promise)
      assert.equal(await fn({}), undefined)
    })

    it('should give a promise for sync and async middleware and for values', async () => {
      for (const fn of [() => {}, () => 1, async () => {}, () => Promise.resolve(1), () => null]) {
        assert(compose([fn])({}) instanceof Promise)
      }
    })

    it('should resolve to what the outermost gives', async () => {
      assert.equal(await compose([() => 'value'])({}), 'value')
      assert.equal(await compose([async () => 'value'])({}), 'value')
      assert.equal(await compose([(ctx, next) => next(), () => 'inner'])({}), 'inner')
      assert.equal(await compose([() => 0])({}), 0)
      assert.equal(await compose([() => null])({}), null)
    })

    it('should take a thenable for a promise', async () => {
      const thenable = { then: resolve => resolve('then') }
      assert.equal(await compose([() => thenable])({}), 'then')
      assert.equal(await compose([async (ctx, next) => `${await next()}!`, () => thenable])({}), 'then!')
    })

    it('should run in, then out', async () => {
      const calls = []
      await compose([1, 2, 3].map(n => async (ctx, next) => {
        calls.push(n)
        await wait()
        await next()
        await wait()
        calls.push(-n)
      }))({})
      assert.deepEqual(calls, [1, 2, 3, -3, -2, -1])
    })

    it('should run in, then out, chained on next()', async () => {
      const calls = []
      await compose([1, 2, 3].map(n => (ctx, next) => {
        calls.push(n)
        return next().then(() => calls.push(-n))
      }))({})
      assert.deepEqual(calls, [1, 2, 3, -3, -2, -1])
    })

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

    it('should compose what was composed', async () => {
      const calls = []
      const layer = n => async (ctx, next) => {
        calls.push(n)
        await next()
        calls.push(-n)
      }
      await compose([layer(1), compose([layer(2), compose([layer(3)])]), layer(4)])({})
      assert.deepEqual(calls, [1, 2, 3, 4, -4, -3, -2, -1])
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

    it('should see what is pushed to the array later', async () => {
      const stack = [(ctx, next) => next()]
      const fn = compose(stack)
      assert.equal(await fn({}), undefined)
      stack.push(() => 'late')
      assert.equal(await fn({}), 'late')
    })

    describe('errors', () => {
      it('should reject for what is thrown, and never throw', async () => {
        for (const fn of [() => { throw new Error('boom') }, async () => { throw new Error('boom') }]) {
          await assert.rejects(compose([fn])({}), { message: 'boom' })
          await assert.rejects(compose([(ctx, next) => next(), fn])({}), { message: 'boom' })
        }
      })

      it('should reject with whatever is thrown', async () => {
        for (const thrown of [null, undefined, 'text', 0, { a: 1 }]) {
          await compose([() => { throw thrown }])({}).then(() => assert.fail('resolved'), reason => {
            assert.equal(reason, thrown)
          })
        }
      })

      it('should never throw from next()', async () => {
        let given
        await assert.rejects(compose([
          (ctx, next) => {
            given = next()
            return given
          },
          () => { throw new Error('sync') }
        ])({}), { message: 'sync' })
        assert(given instanceof Promise)
      })

      it('should be catchable by await and by .catch()', async () => {
        const throwing = () => { throw new Error('boom') }
        assert.equal(await compose([async (ctx, next) => {
          try {
            await next()
          } catch (error) {
            return `caught ${error.message}`
          }
        }, throwing])({}), 'caught boom')
        assert.equal(await compose([(ctx, next) => next().catch(error => error.message), throwing])({}), 'boom')
      })

      it('should come from the outer next too', async () => {
        await assert.rejects(compose([(ctx, next) => next()])({}, () => { throw new Error('outer') }),
          { message: 'outer' })
      })
    })

    describe('next() called twice', () => {
      const twice = { message: 'next() called multiple times' }

      it('should reject', async () => {
        await assert.rejects(compose([async (ctx, next) => {
          await next()
          await next()
        }])({}), twice)
      })

      it('should reject also when nothing was awaited, and when all is sync', async () => {
        await assert.rejects(compose([(ctx, next) => {
          next()
          return next()
        }])({}), twice)
        await assert.rejects(compose([(ctx, next) => {
          next()
          return next()
        }, () => {}, () => {}])({}), twice)
      })

      it('should reject for a layer in the middle', async () => {
        await assert.rejects(compose([
          (ctx, next) => next(),
          async (ctx, next) => {
            await next()
            await next()
          },
          async (ctx, next) => next()
        ])({}), twice)
      })

      it('should reject when the outer next is next', async () => {
        let calls = 0
        await assert.rejects(compose([async (ctx, next) => {
          await next()
          await next()
        }])({}, () => { calls++ }), twice)
        assert.equal(calls, 1)
      })

      it('should reject a next() that was kept and is called late', async () => {
        let kept
        await compose([async (ctx, next) => {
          kept = next
          await next()
        }])({})
        await assert.rejects(kept(), twice)
      })

      it('should not run the layers below a second time', async () => {
        let calls = 0
        await compose([async (ctx, next) => {
          await next()
          await next().catch(() => {})
        }, () => { calls++ }])({})
        assert.equal(calls, 1)
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
    const layers = Array.from({ length: 10000 }, () => (ctx, next) => next())
    await assert.rejects(koaCompose([...layers, () => 'bottom'])({}), RangeError)
    assert.equal(await koneCompose([...layers, () => 'bottom'])({}), 'bottom')
    const awaiting = Array.from({ length: 10000 }, () => async (ctx, next) => await next())
    assert.equal(await koneCompose([...awaiting, () => 'bottom'])({}), 'bottom')
  })

  it('should reject from the bottom of 10,000 layers', async () => {
    const layers = Array.from({ length: 10000 }, () => (ctx, next) => next())
    await assert.rejects(koneCompose([...layers, () => { throw new Error('deep') }])({}), { message: 'deep' })
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
    const fn = koneCompose([(ctx, next) => next(), (ctx, next) => next(), () => {}])
    assert.equal(fn({}), fn({}))
  })

  it('should give ENDED when nothing is left to run, and not when a layer kept the promise of its next()', () => {
    const { ENDED } = koneCompose
    assert.equal(koneCompose([])({}), ENDED)
    assert.equal(koneCompose([() => {}])({}), ENDED)
    assert.equal(koneCompose([(ctx, next) => next(), () => {}])({}), ENDED)
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
