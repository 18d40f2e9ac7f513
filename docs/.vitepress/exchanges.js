'use strict'

/**
 * The requests of an `http` block, and what is expected of the responses.
 *
 *    > POST /users            what is sent: method and target, headers, an empty line, the body
 *    > Content-Type: text/plain
 *    >
 *    > tobi
 *    < 201                    the response; headers and body only where they are given
 *    < Location: /users/1
 *
 * @param {string} text
 * @return {{ request: { method: string, target: string, headers: object, body?: string },
 *   expected: { status?: number, headers: object, body?: string } }[]}
 */
exports.parse = function (text) {
  const exchanges = []
  let last
  for (const line of text.split('\n')) {
    const side = line[0]
    if (side === '>' && last !== '>') exchanges.push({ '>': [], '<': [] })
    if (side === '>' || side === '<') exchanges.at(-1)[side].push(line.slice(2))
    last = side
  }
  return exchanges.map(exchange => {
    const { first, ...request } = message(exchange['>'])
    const [method, target] = first.split(' ')
    const { first: status, ...expected } = message(exchange['<'])
    return {
      request: { method, target, ...request },
      expected: { status: status === undefined ? undefined : parseInt(status), ...expected }
    }
  })
}

function message ([first, ...lines]) {
  const end = lines.indexOf('')
  const fields = end < 0 ? lines : lines.slice(0, end)
  return {
    first,
    headers: Object.fromEntries(fields.map(line => /^(.+?): ?(.*)$/.exec(line).slice(1))),
    body: end < 0 ? undefined : lines.slice(end + 1).join('\n')
  }
}
