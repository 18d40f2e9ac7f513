'use strict'

const BROWSER = {
  'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'upgrade-insecure-requests': '1',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8'
}
const COOKIE = 'theme=dark; sid=0123456789abcdef0123456789abcdef; seen=12'
const JSON_BODY = JSON.stringify({
  id: 4711,
  name: 'a guest of the house',
  tags: ['web', 'framework', 'http', 'server'],
  note: 'Two hundred bytes are what a small form or an everyday call to an API weighs. '.padEnd(90, '.')
})

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const page = { path: '/articles?page=3&sort=new', headers: { ...BROWSER, cookie: COOKIE } }
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON_BODY }
const wrk = { generator: 'wrk', connections: 50 }

/**
 * The workloads of the front. `app` is the argument of each contender, what it does; `loads` are named as their
 * workloads in the result.
 */
module.exports = [
  {
    app: { node: 'hello', 'node-cheapest': 'hello', kone: 'hello', 'kone-node': 'hello', koa: 'hello' },
    expected: hello,
    loads: { hello: wrk, 'pipelined 16': { ...wrk, pipeline: 16 } }
  },
  {
    app: { node: 'browser', kone: 'browser', koa: 'browser' },
    request: page,
    expected: { ...hello, headers: { 'x-language': BROWSER['accept-language'], 'x-page': '3' } },
    loads: { browser: wrk, 'browser, other cookies': { ...wrk, cookies: 4096 } }
  },
  {
    app: { node: 'json', kone: 'json', koa: 'json' },
    expected: json('{"id":4711,"name":"kone","tags":["web","framework"],"fast":true}'),
    loads: { json: wrk }
  },
  {
    app: { node: 'post', kone: 'post', 'kone-bodyParser': 'parser', koa: 'parser' },
    request: post,
    expected: json(JSON_BODY),
    loads: { post: wrk, 'post, two reads': { generator: 'split', connections: 50 } }
  }
]
