'use strict'

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const micro = require('../lib/run/micro')

// What it costs that a listener of ctx.onFinished() runs in the async context in which it was added: an AsyncResource,
// as in lib/context.js, and node's functions for it.
const listener = () => {}

function bind (fn) {
  const resource = new AsyncResource('KONEFINISHED')
  return err => resource.runInAsyncScope(fn, null, err)
}

micro(__filename, {
  'add a listener and call it': {
    'without a context': () => () => [listener][0](null),
    'an AsyncResource': () => () => bind(listener)(null),
    'AsyncResource.bind': () => () => AsyncResource.bind(listener)(null),
    'AsyncLocalStorage.snapshot': () => () => AsyncLocalStorage.snapshot()(listener, null)
  }
})
