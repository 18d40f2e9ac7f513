'use strict'

const http = require('node:http')

/**
 * Send a request to a port of this machine, and read the whole response.
 *
 *    const { status, headers, text } = await request(port, 'GET /path')
 *    await request(port, 'POST /', { agent, headers: { 'content-type': 'text/plain' }, body: 'text' })
 *
 * A body that is a stream is sent in chunks. `port` of the response is the client's: which connection it was.
 */
module.exports = function request (port, line, { agent = false, headers = {}, body } = {}) {
  const [method, path] = line.split(' ')
  return new Promise((resolve, reject) => {
    const req = http.request({ host: '127.0.0.1', port, agent, method, path, headers })
    let answered = false
    req.on('response', async res => {
      answered = true
      const { localPort } = res.socket
      try {
        const chunks = []
        for await (const chunk of res) chunks.push(chunk)
        resolve(answer(res, Buffer.concat(chunks), localPort))
      } catch (err) {
        reject(err)
      }
    })
    // a refused body is cut off by the server: the response counts, not the broken pipe
    req.on('error', err => { if (!answered) reject(err) })
    if (body && body.pipe) body.pipe(req)
    else req.end(body)
  })
}

function answer ({ statusCode, headers, rawHeaders }, body, port) {
  const text = body.toString()
  return { status: statusCode, headers, rawHeaders, port, body, text, json: () => JSON.parse(text) }
}
