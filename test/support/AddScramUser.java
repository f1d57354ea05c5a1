import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;

/** Gives a user a password for both SCRAM mechanisms: brokers, user, password. No client for Node can. */
class AddScramUser {
  public static void main(String[] args) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", args[0]))) {
      var first = new UserScramCredentialUpsertion(args[1], new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), args[2]);
      var second = new UserScramCredentialUpsertion(args[1], new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), args[2]);
      // One request may name a user once only.
      admin.alterUserScramCredentials(List.of(first)).all().get();
      admin.alterUserScramCredentials(List.of(second)).all().get();
    }
  }
}
