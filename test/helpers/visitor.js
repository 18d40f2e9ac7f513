'use strict'

/**
 * A client that keeps its cookies, as a browser does.
 *
 *    const ann = visitor(ask, app)
 *    await ann('POST /login')
 *    ann.cookies['koa:sess']
 */
module.exports = function visitor (ask, app, cookies = {}) {
  async function visit (line, { headers, ...options } = {}) {
    const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ')
    const res = await ask(app, line, { headers: cookie ? { cookie, ...headers } : headers, ...options })

    res.setCookie = {}
    for (const line of res.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      res.setCookie[name] = line
      if (/; expires=Thu, 01 Jan 1970/.test(line)) delete cookies[name]
      else cookies[name] = value
    }
    return res
  }

  return Object.assign(visit, { cookies })
}
