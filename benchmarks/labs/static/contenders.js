'use strict'

const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { pipeline } = require('node:stream')
const kone = require('../../lib/servers/kone')
const { find, go, missing, version } = require('../../lib/servers/program')

/*
 * File servers in Node, then programs with the configuration that costs each least.
 */

const FILE_EACH = 2 // descriptors: one for the connection, one for the file while it is sent
const TYPE = 'text/html; charset=utf-8'
const MB = 2 ** 20

const inMemory = root => new Map(fs.readdirSync(root).map(name => [`/${name}`, fs.readFileSync(path.join(root, name))]))
const koneStatic = (root, options) => new (kone('.'))().use(kone('middleware/static')(root, options))

const config = (folder, name, text) => {
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  return file
}

module.exports = {
  net: {
    about: 'writes fixed bytes, parses nothing',
    // The floor under every HTTP server in Node: of a read it looks only at the path.
    start ([root]) {
      const date = new Date().toUTCString()
      const fields = ['HTTP/1.1 200 OK', `Content-Type: ${TYPE}`, `Date: ${date}`, 'Connection: keep-alive', 'Keep-Alive: timeout=5']
      const whole = body => Buffer.concat([Buffer.from([...fields, `Content-Length: ${body.length}`, '\r\n'].join('\r\n')), body])
      const responses = new Map([...inMemory(root)].map(([path, body]) => [path, whole(body)]))
      return net.createServer(socket => {
        socket.on('data', chunk => socket.write(responses.get(chunk.latin1Slice(4, chunk.indexOf(' ', 4)))))
        socket.on('error', () => {})
      })
    }
  },

  node: {
    about: 'node:http writing a buffer',
    // The least that node:http can do: no condition, no range, no look at the disk.
    start ([root]) {
      const files = inMemory(root)
      return http.createServer((req, res) => {
        const body = files.get(req.url)
        res.statusCode = body ? 200 : 404
        res.setHeader('Content-Type', TYPE)
        res.setHeader('Content-Length', body ? body.length : 0)
        res.end(body)
      })
    }
  },

  kone: { package: 'kone', about: 'from memory, files up to 2 MB', start: ([root]) => koneStatic(root, { cacheFileSize: 2 * MB }) },

  'kone-disk': {
    package: 'kone',
    about: 'opens and reads the file for every response',
    descriptorsEach: FILE_EACH,
    start: ([root]) => koneStatic(root, { cacheSize: 0 })
  },

  sirv: {
    package: 'sirv',
    descriptorsEach: FILE_EACH,
    leaks: true, // the file of a response stays open if the client goes before its end, as wrk's clients do
    start: ([root]) => http.createServer(require('sirv')(root))
  },

  'koa-static': {
    package: 'koa-static',
    descriptorsEach: FILE_EACH,
    start: ([root]) => new (require('koa'))().use(require('koa-static')(root))
  },

  'fastify-static': {
    package: '@fastify/static',
    descriptorsEach: FILE_EACH,
    start ([root]) {
      const app = require('fastify')()
      app.register(require('@fastify/static'), { root })
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    }
  },

  go: {
    missing: () => missing('go', 'https://go.dev/dl, or apt-get install golang-go; it is built on the spot'),
    version: () => version('go', ['version']),
    build: () => go(path.join(__dirname, 'files.go')),
    command: ({ binary }) => [binary],
    env: ({ host, port, root = '' }) => ({ HOST: host, PORT: String(port), ROOT: root })
  },

  h2o: {
    missing: () => missing('h2o', 'apt-get install h2o (Debian, Ubuntu), or brew install h2o'),
    version: () => version('h2o', ['--version']),
    command: ({ host, port, folder, root }) => [find('h2o'), '-c', config(folder, 'h2o.yaml', `
listen:
  host: ${host}
  port: ${port}
num-threads: 1
max-connections: 19000
http1-request-timeout: 600
${process.getuid() === 0 ? 'user: root' : ''}
file.mime.settypes:
  "${TYPE}": [.html]
hosts:
  default:
    paths:
      /:
        file.dir: ${root}
`)]
  },

  lighttpd: {
    missing: () => missing('lighttpd', 'apt-get install lighttpd, or brew install lighttpd'),
    version: () => version('lighttpd', ['-v']),
    descriptorsEach: 2, // it accepts half of max-fds, whatever max-connections says
    command: ({ host, port, folder, root, workers = 1 }) => [find('lighttpd'), '-D', '-f', config(folder, 'lighttpd.conf', `
server.document-root = "${root}"
server.bind = "${host}"
server.port = ${port}
server.listen-backlog = 4096
server.max-fds = 20000
server.max-connections = 19000
server.max-worker = ${workers > 1 ? workers : 0}
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 600
server.max-read-idle = 600
mimetype.assign = ( ".html" => "${TYPE}" )
`)]
  },

  nginx: {
    missing: () => missing('nginx', 'apt-get install nginx, or brew install nginx'),
    version: () => version('nginx', ['-v']),
    // What costs it least was tried: small files by one write, large ones by sendfile.
    command ({ host, port, folder, root, workers = 1 }) {
      const large = ['/1m.html', '/100m.html'].map(path => `location = ${path} { sendfile on; tcp_nopush on; }`).join(' ')
      return [find('nginx'), '-p', folder, '-e', 'stderr', '-c', config(folder, 'nginx.conf', `
daemon off;
${process.getuid() === 0 ? 'user root;' : ''}
worker_processes ${workers};
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 19000; }
http {
  access_log off;
  sendfile off;
  open_file_cache max=1000;
  client_header_timeout 600s;
  keepalive_timeout 600s;
  keepalive_requests 1000000000;
  charset utf-8;
  types { text/html html; }
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  server {
    listen ${host}:${port} backlog=4096${workers > 1 ? ' reuseport' : ''};
    ${root ? `root ${root}; ${large}` : 'default_type text/plain; location / { return 200 "Hello World"; }'}
  }
}
`)]
    }
  },

  'node-disk': {
    about: 'node:http, fs.stat and fs.createReadStream for every response',
    start: ([root]) => http.createServer((req, res) => {
      const file = path.join(root, path.normalize(req.url))
      fs.stat(file, (err, stats) => {
        if (res.destroyed) return // pipeline() throws then, since Node 26
        res.statusCode = err ? 404 : 200
        if (err) return res.end()
        res.setHeader('Content-Type', TYPE)
        res.setHeader('Content-Length', stats.size)
        pipeline(fs.createReadStream(file), res, () => {}) // closes the file if the client has gone; pipe() does not
      })
    })
  }
}
