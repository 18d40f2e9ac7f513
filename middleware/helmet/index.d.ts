import helmetOf = require('helmet')
import Kone = require('../../lib/index')

/** Set the headers of helmet, decided once. */
declare function helmet (options?: helmet.Options): Kone.Middleware

declare namespace helmet {
  type Options = Readonly<helmetOf.HelmetOptions>
  type Part<F extends (...args: any) => any> = (...args: Parameters<F>) => Kone.Middleware

  const contentSecurityPolicy: Part<typeof helmetOf.contentSecurityPolicy> & {
    getDefaultDirectives: typeof helmetOf.contentSecurityPolicy.getDefaultDirectives
    dangerouslyDisableDefaultSrc: typeof helmetOf.contentSecurityPolicy.dangerouslyDisableDefaultSrc
  }
  const crossOriginEmbedderPolicy: Part<typeof helmetOf.crossOriginEmbedderPolicy>
  const crossOriginOpenerPolicy: Part<typeof helmetOf.crossOriginOpenerPolicy>
  const crossOriginResourcePolicy: Part<typeof helmetOf.crossOriginResourcePolicy>
  const originAgentCluster: Part<typeof helmetOf.originAgentCluster>
  const referrerPolicy: Part<typeof helmetOf.referrerPolicy>
  const strictTransportSecurity: Part<typeof helmetOf.strictTransportSecurity>
  const xContentTypeOptions: Part<typeof helmetOf.xContentTypeOptions>
  const xDnsPrefetchControl: Part<typeof helmetOf.xDnsPrefetchControl>
  const xDownloadOptions: Part<typeof helmetOf.xDownloadOptions>
  const xFrameOptions: Part<typeof helmetOf.xFrameOptions>
  const xPermittedCrossDomainPolicies: Part<typeof helmetOf.xPermittedCrossDomainPolicies>
  const xPoweredBy: Part<typeof helmetOf.xPoweredBy>
  const xXssProtection: Part<typeof helmetOf.xXssProtection>
  const dnsPrefetchControl: Part<typeof helmetOf.dnsPrefetchControl>
  const frameguard: Part<typeof helmetOf.frameguard>
  const hidePoweredBy: Part<typeof helmetOf.hidePoweredBy>
  const hsts: Part<typeof helmetOf.hsts>
  const ieNoOpen: Part<typeof helmetOf.ieNoOpen>
  const noSniff: Part<typeof helmetOf.noSniff>
  const permittedCrossDomainPolicies: Part<typeof helmetOf.permittedCrossDomainPolicies>
  const xssFilter: Part<typeof helmetOf.xssFilter>
}

export = helmet
