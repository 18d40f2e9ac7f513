'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { find, missing, version } = require('../../../lib/servers/program')

exports.missing = () => missing('nginx', 'apt-get install nginx, or brew install nginx')

exports.version = () => version('nginx', ['-v'])

// What costs it least was tried: small files by one write, large ones by sendfile.
const LARGE = ['/1m.html', '/100m.html'].map(path => `location = ${path} { sendfile on; tcp_nopush on; }`)

exports.command = function ({ host, port, folder, root, workers = 1 }) {
  const file = path.join(folder, 'nginx.conf')
  fs.writeFileSync(file, `
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
    ${root ? `root ${root}; ${LARGE.join(' ')}` : 'default_type text/plain; location / { return 200 "Hello World"; }'}
  }
}
`)
  return [find('nginx'), '-p', folder, '-c', file, '-e', 'stderr']
}
