'use strict'

const micro = require('../lib/run/micro')
const rateLimit = require('../lib/servers/kone')('middleware/rateLimit')

// What a request costs that rateLimit counts in memory, by the number of addresses that send requests in turn. A duration is as
// long as each of them needs for one request: each request begins a window, and another one is over.

const NS = 300 // of a request

const groups = {}
for (const count of [1000, 100_000, 1_000_000]) {
  groups[`${count} addresses`] = {
    'a window each': () => requests(count, Math.max(1, count * NS / 1e6)),
    'in its window': () => requests(count, 3600e3)
  }
}

micro(__filename, groups)

function requests (count, duration) {
  const limit = rateLimit({ max: Number.MAX_SAFE_INTEGER, duration, disableHeader: true })
  const addresses = Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  const ctx = { app: {}, ip: '' }
  const next = () => {}
  let i = 0
  const send = () => {
    ctx.ip = addresses[i = (i + 1) % count]
    limit(ctx, next)
  }
  for (let warm = 0; warm < count; warm++) send()
  return send
}
