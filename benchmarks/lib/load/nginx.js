'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { ask } = require('../run/verify')
const Program = require('../servers/program')
const arrivals = require('./arrivals')

/** nginx before 1.29.7 speaks HTTP/1.0 to a server, on a connection for each request; with these lines 1.1, on kept ones. */
const KEPT = 'proxy_http_version 1.1; proxy_set_header Connection "";'

const proxy = {
  command: ({ host, port, folder, upstream, isKept }) => [Program.find('nginx'), '-p', folder, '-e', 'stderr', '-c', config(folder, `
daemon off;
${process.getuid() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  upstream app { server ${host}:${upstream}; ${isKept ? 'keepalive 64;' : ''} }
  server {
    listen ${host}:${port} backlog=4096;
    location / { proxy_pass http://app; ${isKept ? KEPT : ''} }
  }
}`)]
}

function config (folder, text) {
  const file = path.join(folder, 'nginx.conf')
  fs.writeFileSync(file, text)
  return file
}

/** Arrivals through an nginx in front of the server, which has its defaults, unless the load `isKept`. */
module.exports = function ({ pin }) {
  const load = arrivals({ pin })
  const started = new Map() // by port of the server and configuration

  async function start (given, request) {
    const server = await Program.start({ name: 'nginx', program: proxy, given }, { pin })
    const [direct, behind] = await Promise.all([given.upstream, server.port].map(port => ask(port, request)))
    if (direct.status === behind.status && direct.body === behind.body) return server
    server.kill()
    throw new Error(`behind nginx it responds with ${behind.status}`)
  }

  return {
    async run ({ port, isKept = false, ...more }) {
      const key = `${port} ${isKept}`
      if (!started.has(key)) started.set(key, start({ upstream: port, isKept }, more))
      return load.run({ ...more, port: (await started.get(key)).port })
    },
    stop () {
      load.stop()
      for (const one of started.values()) one.then(server => server.kill(), () => {})
    }
  }
}

module.exports.proxy = proxy

module.exports.missing = () => Program.missing('nginx', 'apt-get install nginx, or brew install nginx')
