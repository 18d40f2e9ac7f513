'use strict'

const http2 = require('node:http2')
const { setTimeout: sleep } = require('node:timers/promises')
const { Tally, merge } = require('./sample')
const { serve } = require('./worker')

/** A connection of HTTP/2. */
const connect = exports.connect = port => http2.connect(`http://127.0.0.1:${port}`).on('error', () => {})

/** A response that has come whole, as `200 Hello World`; undefined where the connection was lost. */
const get = exports.get = (session, path = '/') => new Promise(resolve => {
  let status
  let body = ''
  session.request({ ':path': path }).setEncoding('latin1')
    .on('response', headers => { status = headers[':status'] })
    .on('data', chunk => { body += chunk })
    .on('end', () => resolve(`${status} ${body}`))
    .on('error', () => resolve())
})

// A closed loop: on each connection `pipeline` streams at once.
async function shoot ({ port, path, connections, pipeline, seconds }) {
  const sessions = Array.from({ length: connections }, () => connect(port))
  const tally = new Tally()
  const begin = performance.now()
  const isOver = () => performance.now() - begin > seconds * 1000
  async function loop (session) {
    while (!isOver() && !session.destroyed) {
      const start = performance.now()
      const response = await get(session, path)
      if (!isOver()) tally.add(response?.startsWith('200 '), 0, performance.now() - start)
    }
  }
  const loops = sessions.flatMap(session => Array.from({ length: pipeline }, () => loop(session)))
  await sleep(seconds * 1000)
  const took = (performance.now() - begin) / 1000
  await Promise.race([Promise.all(loops), sleep(1000)])
  for (const session of sessions) session.destroy()
  return merge([{ ...tally, seconds: took, bytes: 0 }])
}

if (require.main === module) serve(shoot)
