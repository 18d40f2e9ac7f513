'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const until = require('./until')

/**
 * Stop an app while a POST is half-sent, and see that its probes say so: alive and ready before;
 * while it drains not ready on a kept connection, and soon no new one taken.
 *
 *    const res = await drain(url, () => child.kill('SIGTERM'), { path: '/sign-in', type: 'text/plain', body: 'ann' })
 *    res.statusCode // of the POST, which is answered all the same
 */
module.exports = async function drain (url, stop, { path, type, body }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  try {
    assert.deepEqual(await ask(`${url}/healthz`, agent), [200, 'up', 'keep-alive'])
    assert.deepEqual(await ask(`${url}/readyz`, agent), [200, 'up', 'keep-alive'])

    const post = http.request(url + path, {
      method: 'POST',
      headers: {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'sec-fetch-site': 'same-origin',
        expect: '100-continue'
      }
    })
    post.flushHeaders()
    await once(post, 'continue') // it is in flight
    stop()

    const response = await until(async () => {
      const response = await ask(`${url}/readyz`, agent)
      return response[0] === 503 && response
    })
    assert.deepEqual(response, [503, 'down', 'close'])
    await until(() => ask(`${url}/healthz`, false).then(
      ([, , connection]) => {
        assert.equal(connection, 'close') // the queue of the listener is not empty yet
        return false
      },
      ({ code }) => {
        // one that was in the queue of the listener when it closed is reset
        assert(['ECONNREFUSED', 'ECONNRESET'].includes(code), code)
        return code === 'ECONNREFUSED'
      }
    ))

    post.end(body)
    const [res] = await once(post, 'response')
    assert.equal(res.headers.connection, 'close')
    return res.resume()
  } finally {
    agent.destroy()
  }
}

async function ask (url, agent) {
  const [res] = await once(http.get(url, { agent }), 'response')
  return [res.statusCode, Buffer.concat(await res.toArray()).toString(), res.headers.connection]
}
