// Each request {"document": text of a Verifiable Credential, "multikey": a public key} is answered by
// {"verified": true} or {"verified": false, "reason": why not}.

import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import {serve} from './lines.mjs';
import {offlineLoader} from './loader.mjs';

await serve(async ({document, multikey}) => {
  const {verified, error} = await vc.verifyCredential({
    credential: JSON.parse(document),
    suite: new DataIntegrityProof({cryptosuite}),
    documentLoader: offlineLoader(multikey),
  });
  return verified ? {verified} : {verified, reason: reasons(error).join('; ')};
});

function reasons(error) {
  return [error?.message, ...(error?.errors ?? []).flatMap(reasons)].filter(Boolean);
}
