/// <reference types="node" />
import { Server } from 'node:net'

/** For kone's own cluster; apps have `app.close()`. */
declare namespace drain {
  function track (server: Server): void
  function drain (server: Server, options?: { timeout?: number, grace?: number }): Promise<void>
}

export = drain
