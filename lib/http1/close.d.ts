/// <reference types="node" />
import { Server } from 'node:net'

/** For kone's own cluster; apps have `app.close()`. */
declare namespace close {
  function track (server: Server): void
  function close (server: Server, options?: { timeout?: number, grace?: number }): Promise<void>
}

export = close
