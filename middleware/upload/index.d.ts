import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from '../../lib/index'

declare function upload (options?: upload.Options): Middleware

declare namespace upload {
  interface Limits {
    /** bytes of each file; default '10mb' */
    fileSize?: number | string
    /** default 20 */
    files?: number
    /** default 100 */
    fields?: number
    /** bytes of each field; default '1mb'. All fields together may have as much, or 1 MB if that is more */
    fieldSize?: number | string
  }

  interface Options {
    /** an existing folder; default the system's for temporary files */
    dest?: string
    limits?: Limits
    /** the fields that may have files: a file in another one is a 400, more than `maxCount` of one are a 413 */
    fields?: readonly Field[]
    /** called before anything of a file is written: false skips it */
    filter?: (ctx: Context, file: Candidate) => boolean | Promise<boolean>
    /** instead of `dest` */
    storage?: Storage
  }

  interface Field {
    name: string
    maxCount?: number
  }

  /** a storage as multer's are */
  interface Storage {
    _handleFile (
      req: IncomingMessage, file: any, callback: (err?: any, info?: any) => void): void
    _removeFile (req: IncomingMessage, file: any, callback: (err: Error | null) => void): void
  }

  /** what is known of a file before its bytes */
  interface Candidate {
    fieldname: string
    /** the name that the client sent, without control characters: never use it as a path */
    originalname: string
    mimetype: string
  }

  /** keeps files in memory, as `file.buffer` */
  function memoryStorage (): Storage

  interface File extends Candidate {
    /** bytes */
    size: number
    /** removed after the response is sent, if it is still there; not with `memoryStorage()` */
    path: string
    /** with `memoryStorage()`; reading it from a file on disk throws */
    buffer: Buffer
  }
}

declare module '../../lib/index' {
  interface Request {
    files?: upload.File[]
  }
}

export = upload
